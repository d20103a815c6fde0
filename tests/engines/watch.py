"""A look at a server again and again, in a thread, while a test does something else."""

import threading


class Watch:
    """Calls `look` every `every_s` seconds between entry and exit; what goes wrong in it ends it, and is its `problem`."""

    def __init__(self, every_s):
        self.every_s, self.over, self.problem = every_s, threading.Event(), None
        self.thread = threading.Thread(target=self.run)

    def __enter__(self):
        self.thread.start()
        return self

    def __exit__(self, *_):
        self.over.set()
        self.thread.join()

    def run(self):
        try:
            while not self.over.wait(self.every_s):
                self.look()
        except Exception as problem:  # told by the test: it would be lost in a thread
            self.problem = f"{type(problem).__name__}: {problem}"
