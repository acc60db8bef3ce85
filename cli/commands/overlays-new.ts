/** `sdd overlays new`: scaffolds an overlay of the project's own; never overwrites. */
import { existsSync, mkdirSync } from 'node:fs';
import { dirname, join, relative } from 'node:path';
import writeFileAtomic from 'write-file-atomic';
import { EXIT, SddError } from '../../engine/errors.ts';
import { storeError } from '../../engine/store/fs-errors.ts';
import { builtinOverlays } from '../../overlays/index.ts';
import type { Arguments } from '../arguments.ts';
import { OVERLAY_FOLDER } from '../find-overlay.ts';
import { pythonFolder } from '../hosts.ts';
import { pythonOverlay, pythonTest, typescriptOverlay } from '../overlay-scaffolds.ts';
import { asJson, type Terminal } from '../terminal.ts';

export async function overlaysNew(terminal: Terminal, args: Arguments): Promise<number> {
	const name = args.positionals[0] ?? '';
	const isPython = args.has('python');
	if (isPython === args.has('typescript')) throw wrongUse('say --python or --typescript', 'one of them');
	checkName(name, isPython);
	const files = isPython ? pythonFiles(name) : { [`${OVERLAY_FOLDER}/${name}.ts`]: typescriptOverlay(name) };
	const project = terminal.project();
	for (const path of Object.keys(files)) refuseToOverwrite(project, path);
	for (const [path, text] of Object.entries(files)) await write(project, path, text);
	const written = Object.keys(files);
	terminal.out(args.has('json') ? asJson({ name, written }) : nextSteps(project, name, written, isPython));
	return EXIT.done;
}

/** What Python itself calls so: a file of that name beside it would hide it from every overlay in the folder. */
const PYTHON_OWN =
	/^(?:abc|aifc|antigravity|argparse|array|ast|asynchat|asyncio|asyncore|atexit|audioop|base64|bdb|binascii|binhex|bisect|builtins|bz2|calendar|cgi|cgitb|chunk|cmath|cmd|code|codecs|codeop|collections|colorsys|compileall|concurrent|configparser|contextlib|contextvars|copy|copyreg|crypt|csv|ctypes|curses|dataclasses|datetime|dbm|decimal|difflib|dis|distutils|doctest|email|encodings|ensurepip|enum|errno|faulthandler|fcntl|filecmp|fileinput|fnmatch|fractions|ftplib|functools|gc|genericpath|getopt|getpass|gettext|glob|graphlib|grp|gzip|hashlib|heapq|hmac|html|http|idlelib|imaplib|imghdr|imp|importlib|inspect|io|ipaddress|itertools|json|keyword|lib2to3|linecache|locale|logging|lzma|mailbox|mailcap|marshal|math|mimetypes|mmap|modulefinder|msilib|msvcrt|multiprocessing|netrc|nis|nntplib|nt|ntpath|nturl2path|numbers|opcode|operator|optparse|os|ossaudiodev|pathlib|pdb|pickle|pickletools|pipes|pkgutil|platform|plistlib|poplib|posix|posixpath|pprint|profile|pstats|pty|pwd|py_compile|pyclbr|pydoc|pydoc_data|pyexpat|queue|quopri|random|re|readline|reprlib|resource|rlcompleter|runpy|sched|sdd_overlay|secrets|select|selectors|shelve|shlex|shutil|signal|site|smtpd|smtplib|sndhdr|socket|socketserver|spwd|sqlite3|sre_compile|sre_constants|sre_parse|ssl|stat|statistics|string|stringprep|struct|subprocess|sunau|symtable|sys|sysconfig|syslog|tabnanny|tarfile|telnetlib|tempfile|termios|test|textwrap|this|threading|time|timeit|tkinter|token|tokenize|tomllib|trace|traceback|tracemalloc|tty|turtle|turtledemo|types|typing|unicodedata|unittest|urllib|uu|uuid|venv|warnings|wave|weakref|webbrowser|winreg|winsound|wsgiref|xdrlib|xml|xmlrpc|zipapp|zipfile|zipimport|zlib|zoneinfo)$/;

/** Words of the language, which `from class import overlay` cannot name. */
const PYTHON_KEYWORDS =
	/^(?:and|as|assert|async|await|break|class|continue|def|del|elif|else|except|finally|for|from|global|if|import|in|is|lambda|nonlocal|not|or|pass|raise|return|try|while|with|yield)$/;

function checkName(name: string, isPython: boolean): void {
	if (!/^[a-z][a-z0-9_-]{0,63}$/.test(name)) {
		const shown = JSON.stringify(name.slice(0, 80));
		throw wrongUse(`${shown} cannot be the name of an overlay`, 'small letters, digits, _ and -; a letter first');
	}
	const remedy = `for example ${name}_gate`;
	// In a workflow such a name means the built-in, and `use:` beside it is refused.
	if (builtinOverlays.some((one) => [name, name.replaceAll('-', '_')].includes(one.name)))
		throw wrongUse(`"${name}" is the name of a built-in overlay`, remedy);
	if (isPython && PYTHON_OWN.test(name))
		throw wrongUse(`"${name}" is the name of a module of Python's own, which it would hide`, remedy);
	if (isPython && PYTHON_KEYWORDS.test(name))
		throw wrongUse(`"${name}" is a word of Python's own, and its test could not import it`, remedy);
}

function pythonFiles(name: string): { readonly [path: string]: string } {
	// A file with a hyphen in its name cannot be imported by its test.
	const module = name.replaceAll('-', '_');
	return {
		[`${OVERLAY_FOLDER}/${module}.py`]: pythonOverlay(name),
		[`${OVERLAY_FOLDER}/test_${module}.py`]: pythonTest(module),
	};
}

function refuseToOverwrite(project: string, path: string): void {
	if (!existsSync(join(project, path))) return;
	throw new SddError('OVERLAY_EXISTS', `${path} is there already, and nothing is overwritten`, 'choose another name');
}

async function write(project: string, path: string, text: string): Promise<void> {
	try {
		mkdirSync(dirname(join(project, path)), { recursive: true });
		await writeFileAtomic(join(project, path), text);
	} catch (error) {
		const { code, message } = storeError(error, path, 'write');
		const remedy = `see what lies at ${OVERLAY_FOLDER}: it must be a folder that you may write, with room for a file`;
		throw new SddError(code, message, remedy, { cause: error });
	}
}

function nextSteps(project: string, name: string, written: readonly string[], isPython: boolean): string {
	const [file = ''] = written;
	const library = relative(project, pythonFolder());
	const tests = `PYTHONPATH=${library.startsWith('..') ? pythonFolder() : library} python3 -m unittest discover -s ${OVERLAY_FOLDER}`;
	return `${[
		...written.map((path) => `wrote ${path}`),
		'',
		'Try it:',
		`  sdd overlays test ${file}`,
		...(isPython ? [`  ${tests}`] : []),
		'',
		'Use it in a workflow:',
		'  overlays:',
		`    ${name}: { enabled: true, use: ./${file} }`,
	].join('\n')}\n`;
}

function wrongUse(what: string, remedy: string): SddError {
	return new SddError('CLI_USAGE', `sdd overlays new: ${what}`, remedy);
}
