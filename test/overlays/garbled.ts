/** Verdicts that no JSON parser reads, as agents write them. */

/** How a verdict with this value of its key, and a text, can go wrong. */
export function garbled(key: string, value: string, text: string): readonly (readonly [string, string])[] {
	return [
		['a comma too many', `{"${key}":${value},"${text}":"no",}`],
		['an unescaped quote', `{"${key}":${value},"${text}":"the "x" is wrong"}`],
		['a raw line end', `{"${key}":${value},"${text}":"one\ntwo"}`],
		['no closing brace', `{"${key}":${value},"${text}":"no"`],
		['no closing quote', `{"${text}":"no","${key}":${value}`],
		['a comment', `{"${key}": ${value}, // see below\n"${text}":"no"}`],
		['single quotes', `{"${key}":${value},"${text}":"no"}`.replaceAll('"', "'")],
		['curly quotes', `{“${key}”: ${value}, “${text}”: “no”}`],
		['keys without quotes', `{${key}: ${value}, ${text}: "no"}`],
		['values without quotes', `{"${key}": ${value.replaceAll('"', '')}, "${text}": no}`],
		['white space', `{\n\t"${key}"\n:\n${value},\n}`],
		['escaped once too often', JSON.stringify(`{"${key}":${value},"${text}":"no"}`).slice(1, -1)],
		['a key in capitals', `{"${key.toUpperCase()}":${value},"${text}":"no"}`],
		['a comment before the value', `{"${key}": /* final */ ${value}}`],
		['a comment to the end of the line', `{"${key}": // final\n ${value}}`],
		['brackets', `{"${key}": (${value})}`],
		['backticks', `{"${key}": \`${value.replaceAll('"', '')}\`}`],
		['emphasis', `"${key}": **${value.replaceAll('"', '')}**`],
		['an arrow', `"${key}" => ${value}`],
		['an equals sign', `{"${key}" = ${value}}`],
		['inside another object', `{"result":{"${key}":${value},"${text}":"no"}}`],
	];
}
