"""Emulates the healthy path of each window on a Cortex-M3 and says what it touches.

usage: thumb.py ELF

Each function is called with its breaker until its window is full of successes, and the call after that is
watched: every store, and every exclusive access (what an exchange is made of), is held against the breaker's
addresses. The time window, which counts each success, is the counter-example: it must be caught.
"""

import sys

from elftools.elf.elffile import ELFFile
from elftools.elf.sections import SymbolTableSection
from unicorn import UC_ARCH_ARM, UC_MEM_READ, UC_MEM_WRITE, UC_MODE_MCLASS, UC_MODE_THUMB, Uc
from unicorn import UC_HOOK_CODE, UC_HOOK_MEM_READ, UC_HOOK_MEM_WRITE
from unicorn.arm_const import UC_ARM_REG_LR, UC_ARM_REG_R0, UC_ARM_REG_SP, UC_CPU_ARM_CORTEX_M3

PAGE = 0x1000
STACK = 0x2000_0000
STACK_BYTES = 0x1_0000
DONE = 0x3000_0000  # where a call returns to
WARM_UP = 20  # more would fill a narrow time bucket, which then counts no further

SUBJECTS = {  # function: (breaker, whether it must write nothing)
    "healthy_failures": ("FAILURES", True),
    "healthy_consecutive": ("CONSECUTIVE", True),
    "healthy_cusum": ("CUSUM", True),
    "healthy_calls": ("CALLS", True),
    "healthy_time": ("TIME", False),
}


def load(emulator, elf):
    """Maps the ELF file's segments, whose pages may overlap, as one piece."""
    segments = list(elf.iter_segments("PT_LOAD"))
    start = min(segment["p_vaddr"] for segment in segments) & ~(PAGE - 1)
    end = max(segment["p_vaddr"] + segment["p_memsz"] for segment in segments)
    emulator.mem_map(start, (end - start + PAGE - 1) & ~(PAGE - 1))
    for segment in segments:
        emulator.mem_write(segment["p_vaddr"], segment.data())


def symbol(symbols, name):
    """The address and size of a function or a static."""
    for entry in symbols.get_symbol_by_name(name) or sys.exit(f"{name} is not in the file"):
        return entry["st_value"] & ~1, entry["st_size"]


def exclusive(code):
    """Whether a 32-bit Thumb instruction is LDREX or STREX of a word, byte or halfword (ARMv7-M A7.7)."""
    first = code[0] | code[1] << 8
    second = (code[2] | code[3] << 8) if len(code) == 4 else 0
    word = first & 0xFFE0 == 0xE840
    narrow = first & 0xFFE0 == 0xE8C0 and second & 0x00F0 in (0x40, 0x50)
    return word or narrow


class Watch:
    """Counts what is done: instructions, loads and stores of the breaker, exclusive accesses.

    Hooked in before anything runs: code that was translated before it had a hook never calls it.
    """

    def __init__(self, emulator):
        self.breaker = range(0)
        self.reset()
        emulator.hook_add(UC_HOOK_CODE, self.executed)
        emulator.hook_add(UC_HOOK_MEM_READ | UC_HOOK_MEM_WRITE, self.touched)

    def reset(self):
        self.instructions = self.loads = self.stores = self.exclusives = 0

    def executed(self, emulator, address, length, _):
        self.instructions += 1
        self.exclusives += exclusive(emulator.mem_read(address, length))

    def touched(self, _emulator, access, address, _length, _value, _):
        if address in self.breaker:
            self.stores += access == UC_MEM_WRITE
            self.loads += access == UC_MEM_READ


def call(emulator, function, breaker):
    """Calls the function; whether it says that the success was counted."""
    emulator.reg_write(UC_ARM_REG_SP, STACK + STACK_BYTES)
    emulator.reg_write(UC_ARM_REG_LR, DONE | 1)
    emulator.reg_write(UC_ARM_REG_R0, breaker)
    emulator.emu_start(function | 1, DONE, count=100_000)
    return emulator.reg_read(UC_ARM_REG_R0) & 0xFF == 1


def main(path):
    failed = False
    with open(path, "rb") as file:
        elf = ELFFile(file)
        symbols = next(section for section in elf.iter_sections() if isinstance(section, SymbolTableSection))
        emulator = Uc(UC_ARCH_ARM, UC_MODE_THUMB | UC_MODE_MCLASS)
        emulator.ctl_set_cpu_model(UC_CPU_ARM_CORTEX_M3)
        load(emulator, elf)
        emulator.mem_map(STACK, STACK_BYTES)
        emulator.mem_map(DONE, PAGE)
        watch = Watch(emulator)
        for name, (static, must_not_write) in SUBJECTS.items():
            function, _ = symbol(symbols, name)
            breaker, size = symbol(symbols, static)
            watch.breaker = range(breaker, breaker + size)
            for _ in range(WARM_UP):
                call(emulator, function, breaker)
            watch.reset()
            counted = call(emulator, function, breaker)
            writes = watch.stores > 0 or watch.exclusives > 0
            right = counted and watch.loads >= 2 and writes != must_not_write
            failed |= not right
            print(
                "ok    " if right else "FAILED",
                f"{name} on a Cortex-M3: {watch.instructions} instructions,",
                f"{watch.loads} loads of the breaker, {watch.stores} stores to it,",
                f"{watch.exclusives} exclusive accesses",
                "" if must_not_write else "(the counter-example, which must be caught)",
            )
    sys.exit(failed)


if __name__ == "__main__":
    main(*sys.argv[1:])
