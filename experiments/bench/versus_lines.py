"""The file of --json: as it was until everything is measured, then whole."""

import json
import os
from typing import Any, Dict, List

from versus_output import Failed


class LinesFile:
    """Written beside its place and moved there: nobody finds half of it, and a run that fails leaves what was
    there before."""

    def __init__(self, path: str) -> None:
        """Tries whether a file can be written there, before minutes of measuring."""
        if os.path.lexists(path) and not os.path.isfile(path):
            raise Failed(f'--json: "{path}" is no regular file, and only such are written; give another path')
        self.path = path
        self.place = os.path.realpath(path)  # a link stays one
        self.beside = os.path.join(os.path.dirname(self.place), f".versus_pytorch-{os.getpid()}.tmp")
        self.made = False
        try:
            if os.path.exists(self.place):
                os.close(os.open(self.place, os.O_WRONLY))
            elif len(os.path.basename(self.place).encode("utf-8", "replace")) > 255:
                raise OSError(0, "its name is longer than 255 bytes")
            self.write_beside("\n")
        except OSError as error:
            raise self.failed(error) from None
        finally:
            self.remove_beside()

    def write(self, lines: List[Dict[str, Any]]) -> None:
        try:
            self.write_beside("".join(json.dumps(line, allow_nan=False) + "\n" for line in lines))
            if os.path.exists(self.place):
                os.chmod(self.beside, os.stat(self.place).st_mode & 0o777)
            os.replace(self.beside, self.place)
        except OSError as error:
            raise self.failed(error) from None
        finally:
            self.remove_beside()

    def write_beside(self, text: str) -> None:
        with open(self.beside, "x", encoding="ascii") as file:
            self.made = True
            file.write(text)
            file.flush()
            os.fsync(file.fileno())

    def remove_beside(self) -> None:
        if not self.made:
            return
        self.made = False
        try:
            os.unlink(self.beside)
        except OSError:  # moved
            pass

    def failed(self, error: OSError) -> Failed:
        return Failed(f'--json: "{self.path}" cannot be written: {error.strerror}')
