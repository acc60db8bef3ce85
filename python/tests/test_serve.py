"""The conversation with the host, through real processes."""

from __future__ import annotations

import json
import signal
import unittest
from typing import Any, Dict

from host import MOMENT, Host

PASSING = """
    @overlay.after
    def judge(moment, options):
        return passed()
"""


class Handshake(unittest.TestCase):
    def test_says_what_the_overlay_is(self) -> None:
        with Host(PASSING) as host:
            host.send("initialize", {"protocol": {"min": 1, "max": 1}, "host": {"name": "t", "version": "1"}}, 1)
            said = {"protocol": 1, "name": "t", "version": "0.0.0", "summary": "a test", "hooks": ["after"]}
            self.assertEqual(host.line(), {"jsonrpc": "2.0", "id": 1, "result": said})

    def test_a_range_of_versions_that_includes_ours_is_fine(self) -> None:
        with Host(PASSING) as host:
            host.send("initialize", {"protocol": {"min": 0, "max": 7}}, 1)
            self.assertEqual(host.line()["result"]["protocol"], 1)

    def test_a_host_of_another_version_is_told(self) -> None:
        with Host(PASSING) as host:
            host.send("initialize", {"protocol": {"min": 2, "max": 99}}, 1)
            self.assertEqual(host.line()["error"]["message"], "the host speaks protocol 2 to 99, this overlay speaks 1")
            host.send("initialize", {"protocol": {"min": 2, "max": 2}}, 2)
            self.assertEqual(host.line()["error"]["message"], "the host speaks protocol 2, this overlay speaks 1")

    def test_a_handshake_without_versions_is_refused(self) -> None:
        with Host(PASSING) as host:
            host.send("initialize", {}, 1)
            self.assertEqual(host.line()["error"]["message"], "initialize needs protocol.min and protocol.max")

    def test_an_overlay_without_hooks_says_so_and_ends(self) -> None:
        with Host("") as host:
            self.assertEqual(host.process.wait(), 1)
            self.assertIn("the overlay t has no hooks: decorate a function with @overlay.after", host.stderr())


class Verdicts(unittest.TestCase):
    def test_come_back_under_the_id_of_the_request(self) -> None:
        with Host(PASSING) as host:
            host.consult("after", 7)
            self.assertEqual(host.line(), {"jsonrpc": "2.0", "id": 7, "result": {"kind": "pass"}})

    def test_an_async_hook_is_awaited(self) -> None:
        source = """
            import asyncio
            @overlay.after
            async def judge(moment):
                await asyncio.sleep(0)
                return rework(moment.task.id)
        """
        with Host(source) as host:
            host.consult("after")
            self.assertEqual(host.line()["result"], {"kind": "rework", "feedback": "write"})

    def test_several_are_thought_about_at_once_and_come_back_as_they_are_ready(self) -> None:
        source = """
            import threading
            go = threading.Barrier(3)
            @overlay.after
            def judge(moment):
                go.wait()
                return passed(moment.task.id)
        """
        with Host(source) as host:
            for request, task in enumerate("abc", 1):
                host.consult("after", request, task={"id": task})
            said = {message["id"]: message["result"]["note"] for message in host.lines(3)}
            self.assertEqual(said, {1: "a", 2: "b", 3: "c"})

    def test_a_moment_of_ten_megabytes_is_read(self) -> None:
        source = """
            @overlay.after
            def judge(moment):
                return passed(str(len(moment.artifacts[0].content)))
        """
        with Host(source) as host:
            host.consult("after", artifacts=[{"path": "a", "sha256": "", "bytes": 1, "content": "x" * 10_000_000}])
            self.assertEqual(host.line()["result"]["note"], "10000000")

    def test_text_of_any_kind_survives(self) -> None:
        text = 'é \u2028 🦉 \x00 "\\ \ud83e'
        with Host("""
            @overlay.after
            def judge(moment):
                return passed(moment.output)
        """) as host:
            host.consult("after", output={"text": text})
            self.assertEqual(host.line()["result"]["note"], text)


class Faults(unittest.TestCase):
    def error_of(self, body: str, hook: str = "after", params: Any = None) -> Dict[str, Any]:
        source = "@overlay.after\ndef judge(moment):\n" + "".join(f"    {line}\n" for line in body.split("\n"))
        with Host(source) as host:
            host.send(hook, {"moment": MOMENT} if params is None else params, 1)
            answer = host.line()
            host.consult("after", 2)
            self.assertEqual(host.line()["id"], 2, "the overlay must live on")
            self.stderr = host.stderr()
            error: Dict[str, Any] = answer["error"]
            return error

    def test_a_throw_is_an_error_with_the_traceback_on_stderr(self) -> None:
        error = self.error_of("raise ValueError('no good')")
        self.assertEqual(error, {"code": -32000, "message": "ValueError: no good"})
        self.assertIn("t, after of task write:\nTraceback", self.stderr)
        self.assertIn("in judge", self.stderr)

    def test_a_traceback_has_no_frames_of_this_package(self) -> None:
        self.error_of("raise ValueError('no good')")
        self.assertNotIn("sdd_overlay", self.stderr)
        self.error_of("try:\n    passed(1 / 0)\nexcept ZeroDivisionError as error:\n    raise ValueError('no good') from error")
        self.assertNotIn("sdd_overlay", self.stderr)
        self.assertIn("ZeroDivisionError: division by zero", self.stderr)
        self.assertIn("direct cause of the following exception", self.stderr)
        self.error_of("return True")
        self.assertNotIn("_serve.py", self.stderr)
        self.assertIn("TypeError: a hook must return passed(), rework(), ask() or fail(), but this one returned a bool", self.stderr)

    def test_a_hook_that_closes_stderr_is_still_answered(self) -> None:
        for close in ("os.close(2)", "sys.stderr.close()", "sys.stderr = None"):
            error = self.error_of(f"import os, sys; {close}\nraise ValueError('no good')")
            self.assertEqual(error["message"], "ValueError: no good", close)
            self.assertIn("in judge", self.stderr, close)

    def test_a_forked_child_cannot_answer_even_if_stderr_is_closed(self) -> None:
        source = """
            import os
            @overlay.after
            def judge(moment, options, call):
                os.close(2)
                child = os.fork()
                if child == 0:
                    for fd in range(3, 30):
                        try:
                            os.write(fd, b"garbage")
                        except OSError:
                            pass
                    os._exit(0)
                os.waitpid(child, 0)
                return passed()
        """
        with Host(source) as host:
            host.consult("after")
            self.assertEqual(host.line(), {"jsonrpc": "2.0", "id": 1, "result": {"kind": "pass"}})

    def test_an_exit_in_a_hook_is_an_error(self) -> None:
        error = self.error_of("import sys; sys.exit(3)")
        self.assertEqual(error["message"], "the overlay tried to exit (3)")

    def test_an_exception_that_cannot_be_printed_is_an_error(self) -> None:
        error = self.error_of("class Shy(Exception):\n    def __str__(self): raise ValueError('never')\nraise Shy()")
        self.assertEqual(error["message"], "Shy")

    def test_what_is_no_verdict_is_an_error(self) -> None:
        said = "TypeError: a hook must return passed(), rework(), ask() or fail(), but this one returned "
        self.assertEqual(self.error_of("pass")["message"], said + "nothing")
        self.assertEqual(self.error_of("return True")["message"], said + "a bool")

    def test_what_json_cannot_say_is_an_error(self) -> None:
        error = self.error_of("return passed(record={'at': {1, 2}})")
        self.assertEqual(error["message"], "TypeError: what it says is no JSON: Object of type set is not JSON serializable")
        self.assertIn("what it says is no JSON", self.error_of("return passed(record={'n': float('nan')})")["message"])

    def test_a_verdict_longer_than_a_line_may_be_is_an_error(self) -> None:
        error = self.error_of("return passed('x' * 34_000_000)")
        self.assertIn("bytes, and the host takes 33554432", error["message"])

    def test_a_hook_it_does_not_have_is_an_error(self) -> None:
        self.assertEqual(self.error_of("return passed()", "before"), {"code": -32601, "message": "the overlay t has no hook before"})

    def test_an_unknown_method_is_an_error(self) -> None:
        self.assertEqual(self.error_of("return passed()", "during"), {"code": -32601, "message": "unknown method during"})

    def test_a_moment_that_cannot_be_read_is_an_error(self) -> None:
        for params in ({}, {"moment": 1}, {"moment": {}}, {"moment": {"task": {}}}, [1]):
            error = self.error_of("return passed()", params=params)
            self.assertEqual(error["code"], -32602, params)
            self.assertIn("the moment cannot be read: ", error["message"])

    def test_a_line_that_is_no_json_is_answered_and_survived(self) -> None:
        with Host(PASSING) as host:
            for line in (b"{", b"\xff\xfe", b"[" * 100_000):
                host.send_line(line)
                answer = host.line()
                self.assertEqual((answer["id"], answer["error"]["code"]), (None, -32700))
                self.assertIn("this line is no JSON", answer["error"]["message"])
            host.send_line(b"[1]")
            self.assertEqual(host.line()["error"], {"code": -32600, "message": "a message must be an object"})
            host.send_line(b"")
            host.send_line(json.dumps({"jsonrpc": "2.0", "method": "$/later", "params": {}}).encode())
            host.consult("after")
            self.assertEqual(host.line()["result"], {"kind": "pass"})


class Stdout(unittest.TestCase):
    def only_the_protocol(self, source: str, on_stderr: str) -> None:
        with Host(source) as host:
            host.consult("after")
            self.assertEqual(host.line(), {"jsonrpc": "2.0", "id": 1, "result": {"kind": "pass"}})
            host.send("shutdown", {}, 2)
            self.assertEqual(host.line(), {"jsonrpc": "2.0", "id": 2, "result": None})
            self.assertEqual(host.rest(), b"")
            self.assertIn(on_stderr, host.stderr())

    def test_a_stray_print_goes_to_stderr(self) -> None:
        source = """
            import os, sys
            print("while it is loaded")
            @overlay.after
            def judge(moment):
                print("hello")
                sys.__stdout__.write("old object")
                sys.__stdout__.flush()
                os.write(1, b"descriptor")
                return passed()
        """
        self.only_the_protocol(source, "hello")
        self.only_the_protocol(source, "while it is loaded")
        self.only_the_protocol(source, "old object")
        self.only_the_protocol(source, "descriptor")

    def test_a_program_started_by_a_hook_reaches_neither_stdout_nor_stdin(self) -> None:
        source = """
            import subprocess
            @overlay.after
            def judge(moment):
                eaten = subprocess.run(["cat"], stdout=subprocess.PIPE).stdout
                subprocess.run(["sh", "-c", "echo from a child; for fd in 3 4 5 6 7 8 9; do echo no >&$fd; done 2>/dev/null"])
                return passed() if eaten == b"" else fail("it ate " + repr(eaten))
        """
        self.only_the_protocol(source, "from a child")

    def test_a_forked_child_cannot_answer(self) -> None:
        source = """
            import os
            @overlay.after
            def judge(moment, options, call):
                child = os.fork()
                if child == 0:
                    print("in the child")
                    call.log("from the child")
                    return fail("from the child")
                os.waitpid(child, 0)
                return passed()
        """
        self.only_the_protocol(source, "in the child")

    def test_a_forked_child_cannot_write_to_the_protocol_by_any_descriptor(self) -> None:
        source = """
            import os
            @overlay.after
            def judge(moment):
                child = os.fork()
                if child == 0:
                    for fd in range(1, 30):
                        try:
                            os.write(fd, b"garbage")
                        except OSError:
                            pass
                    os._exit(0)
                os.waitpid(child, 0)
                return passed()
        """
        self.only_the_protocol(source, "garbage")


class Cancellation(unittest.TestCase):
    WAITING = """
        @overlay.after
        {keyword}def judge(moment, options, call):
            call.progress("waiting")
            {body}
            return passed()
    """

    def cancelled(self, body: str, keyword: str = "") -> None:
        with Host(self.WAITING.format(keyword=keyword, body=body)) as host:
            host.consult("after", 5)
            said = {"jsonrpc": "2.0", "method": "$/progress", "params": {"id": 5, "text": "waiting"}}
            self.assertEqual(host.line(), said)
            host.send("$/cancel", {"id": 5})
            self.assertEqual(host.line(), {"jsonrpc": "2.0", "id": 5, "error": {"code": -32800, "message": "cancelled"}})
            host.send("$/cancel", {"id": 5})
            host.send("$/cancel", {"id": 99})
            host.send("nope", {}, 6)
            self.assertEqual(host.line()["id"], 6)

    def test_a_hook_that_checks_ends(self) -> None:
        self.cancelled("while True: call.check()")

    def test_a_hook_that_sleeps_wakes_up(self) -> None:
        self.cancelled("call.sleep(1000)")

    def test_a_hook_that_looks_and_returns_is_cancelled_too(self) -> None:
        self.cancelled("while not call.cancelled: pass")

    def test_an_async_hook_is_cancelled_where_it_awaits(self) -> None:
        self.cancelled("import asyncio; await asyncio.sleep(1000)", "async ")


class Log(unittest.TestCase):
    def test_lines_come_before_the_verdict(self) -> None:
        source = """
            @overlay.after
            def judge(moment, options, call):
                call.log("looking", "debug")
                return passed()
        """
        with Host(source) as host:
            host.consult("after")
            self.assertEqual(host.line(), {"jsonrpc": "2.0", "method": "log", "params": {"level": "debug", "text": "looking"}})
            self.assertEqual(host.line()["result"], {"kind": "pass"})


class End(unittest.TestCase):
    BUSY = """
        import threading
        @overlay.after
        def judge(moment, options, call):
            threading.Thread(target=threading.Event().wait).start()
            call.log("busy")
            threading.Event().wait()
    """

    def test_the_end_of_stdin_ends_it_whatever_it_does(self) -> None:
        with Host(self.BUSY) as host:
            host.consult("after")
            host.line()
            host.close()
            self.assertEqual(host.process.wait(), 0)

    def test_the_end_of_stdin_ends_it_even_in_a_hook_that_never_gives_way(self) -> None:
        for loop in ("while True: pass", "sum(1 for _ in iter(int, 1))", "time.sleep(600)"):
            source = f"""
                import time
                @overlay.after
                def judge(moment, options, call):
                    call.log("busy")
                    {loop}
            """
            with Host(source) as host:
                host.consult("after")
                host.line()
                host.close()
                self.assertEqual(host.process.wait(), 0, loop)

    def test_shutdown_ends_it_after_an_answer(self) -> None:
        with Host(self.BUSY) as host:
            host.consult("after")
            host.line()
            host.send("shutdown", {}, 2)
            self.assertEqual(host.line(), {"jsonrpc": "2.0", "id": 2, "result": None})
            self.assertEqual(host.process.wait(), 0)

    def test_sigterm_ends_it_at_once(self) -> None:
        with Host(self.BUSY) as host:
            host.consult("after")
            host.line()
            host.process.send_signal(signal.SIGTERM)
            self.assertEqual(host.process.wait(), -signal.SIGTERM)

    def test_a_host_that_stopped_listening_ends_it(self) -> None:
        with Host(PASSING) as host:
            assert host.process.stdout is not None
            host.process.stdout.close()
            host.consult("after")
            self.assertEqual(host.process.wait(), 0)


if __name__ == "__main__":
    unittest.main()
