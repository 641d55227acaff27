"""Differences from libbpf that were looked at, and what was found."""
import re

# Of what only this library loads: what libbpf says, and why it is right here.
ONLY_OURS = (
    (r"failed to initialize slot \[\d+\] to prog '[^']*' fd=-\d+",
     "libbpf refuses an object whose program array has a program that is not to be loaded; "
     "the slot stays empty here"),
    (r"^extern .*(not found in kernel or module BTFs|not resolved)",
     "libbpf refuses an object with an extern that the kernel lacks; here it has to exist "
     "if a program that is loaded uses it"),
    (r"^map 'm_ringbuf': failed to create: -EINVAL",
     "a ring buffer of no size: it gets the smallest one here"),
)

# Of programs with other instructions: all other instructions are calls of no helper, which
# stand where CO-RE finds code unreachable. Their numbers say which relocation it was: 195896080
# with libbpf, 2003000000 and its number here; 2002000000 and the number of the extern in both.
OTHER_CODE = "what CO-RE finds unreachable is numbered here"


def judge(why):
    """Why only this library loads it; None: nobody looked at that yet."""
    said = why.split(": ", 1)[-1] if why.startswith("libbpf ") else why
    for pattern, judgement in ONLY_OURS:
        if re.search(pattern, said):
            return judgement
    return None
