"""An OpenAI-compatible server whose reply to a prompt is in a file: {prompt: reply}. It writes each prompt to a log.

Run it as a program with the paths of both files; it prints its port. It needs the standard library alone.
"""

import json
import sys
import threading
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path


def main(replies_path: str, log_path: str) -> None:
    replies = {
        prompt.strip(): reply for prompt, reply in json.loads(Path(replies_path).read_text("utf-8")).items()
    }
    lock = threading.Lock()

    class Handler(BaseHTTPRequestHandler):
        def do_POST(self) -> None:
            body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
            content = body["messages"][-1]["content"] if "messages" in body else body["prompt"]
            text = content if isinstance(content, str) else "".join(part["text"] for part in content)
            with lock, Path(log_path).open("a", encoding="utf-8") as log:
                log.write(json.dumps(text.strip()) + "\n")
            message = {"role": "assistant", "content": replies[text.strip()]}
            answer = {
                "id": "1",
                "object": "chat.completion",
                "created": 0,
                "model": body.get("model", "stub"),
                "choices": [{"index": 0, "message": message, "finish_reason": "stop"}],
                "usage": {"prompt_tokens": 1, "completion_tokens": 1, "total_tokens": 2},
            }
            data = json.dumps(answer).encode()
            self.send_response(200)
            self.send_header("Content-Type", "application/json")
            self.send_header("Content-Length", str(len(data)))
            self.end_headers()
            self.wfile.write(data)

        def log_message(self, *_: object) -> None:
            pass

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    print(server.server_port, flush=True)
    server.serve_forever()


if __name__ == "__main__":
    main(*sys.argv[1:])
