// SPDX-License-Identifier: BSD-2-Clause
/*
 * The workload of the golden recordings: a process that computes, faults pages in, opens, writes,
 * sleeps, forks, and becomes others by exec. It is built without the C library: every frame has a
 * frame pointer, so that no chain ends in garbage, and all of its code is in the file beside the
 * recordings.
 *
 *	rbpf_work	all of it, with four children, of which two become other programs
 *	rbpf_work x	one process
 *	rbpf_work a b c	spends its time in alpha, beta and gamma_ by these numbers, for comparisons
 *
 * Built with -DMORE it is another program, whose functions are at other addresses.
 */
enum {
	READ_FAR = 1 << 22,
	PAGE = 4096,
};

static long sys(long n, long a, long b, long c, long d, long e, long f)
{
	register long r10 __asm__("r10") = d, r8 __asm__("r8") = e, r9 __asm__("r9") = f;
	__asm__ volatile("syscall"
			 : "+a"(n)
			 : "D"(a), "S"(b), "d"(c), "r"(r10), "r"(r8), "r"(r9)
			 : "rcx", "r11", "memory");
	return n;
}

#define FN __attribute__((noinline))

static volatile unsigned sink;
static char page[READ_FAR];

#ifdef MORE
FN void another(void)
{
	for (int i = 0; i < 1000; i++)
		sink += i * i;
}
#endif

FN static void spin(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = sink * 31 + i;
}

FN static void touch(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		page[(i * PAGE) & (READ_FAR - 1)]++;
	sink++;
}

FN static void fresh(void)
{
	volatile char *p = (char *)sys(9, 0, 1 << 20, 3, 0x22, -1, 0); /* mmap */
	for (int i = 0; i < 256; i++)
		p[i * PAGE] = 1;
	sys(11, (long)p, 1 << 20, 0, 0, 0, 0); /* munmap */
	sink++;
}

FN static void say(long fd, int n)
{
	for (int i = 0; i < n; i++)
		sys(1, fd, (long)page, i & 63, 0, 0, 0); /* write */
	sink++;
}

FN static void deeper(int n, unsigned s);

FN static void left(int n, unsigned s)
{
	spin(s & 1023);
	deeper(n, s);
	sink++;
}

FN static void right(int n, unsigned s)
{
	touch(s & 255);
	deeper(n, s);
	sink++;
}

FN static void deeper(int n, unsigned s)
{
	if (!n)
		spin(6000);
	else if (s >> n & 1)
		left(n - 1, s);
	else
		right(n - 1, s);
	sink++;
}

FN static void work(unsigned seed, int rounds)
{
	long fd = sys(257, -100, (long)"/dev/null", 1, 0, 0, 0); /* openat */
	for (int i = 0; i < rounds; i++) {
		seed = seed * 1103515245 + 12345;
		deeper(seed >> 16 & 7, seed >> 8);
		if (!(i & 63))
			fresh();
		if (!(i & 15))
			say(fd, 8);
	}
	sys(257, -100, (long)"/dev/nothing", 0, 0, 0, 0);
	sys(1, 99, (long)page, 1, 0, 0, 0);
	sink++;
}

FN static void stay_on(long cpu)
{
	unsigned long mask = 1ul << cpu;
	sys(203, 0, sizeof(mask), (long)&mask, 0, 0, 0); /* sched_setaffinity */
}

/* As dd does: the events of these writes have a length of their own. */
FN static void copy(int n, long size)
{
	long fd = sys(257, -100, (long)"/dev/null", 1, 0, 0, 0);
	for (int i = 0; i < n; i++)
		sys(1, fd, (long)page, size, 0, 0, 0);
	sink++;
}

FN static void child(char **argv, char **envp, int i)
{
	long nap[] = {0, 1000000};
	stay_on(i & 1);
	work(i + 7, 150);
	if (i == 1) {
		char *next[] = {"rbpf_other", "x", 0};
		sys(59, (long)argv[0], (long)next, (long)envp, 0, 0, 0); /* execve */
	}
	if (i == 2) {
		char *next[] = {"rbpf_twin", "x", 0};
		sys(59, (long)"./rbpf_twin", (long)next, (long)envp, 0, 0, 0);
	}
	if (i == 3) {
		sys(157, 15, (long)"rbpf_copy", 0, 0, 0, 0); /* prctl */
		copy(200, 512);
		copy(20, 8192);
		sys(35, (long)nap, 0, 0, 0, 0, 0); /* nanosleep */
	}
	sys(60, 0, 0, 0, 0, 0, 0);
}

FN static unsigned number(const char *text)
{
	unsigned n = 0;
	for (; *text; text++)
		n = n * 10 + (*text - '0');
	return n;
}

FN static void alpha(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = sink * 31 + i;
}

FN static void beta(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = sink * 37 + i;
}

FN static void gamma_(unsigned n)
{
	for (unsigned i = 0; i < n; i++)
		sink = sink * 41 + i;
}

/* At all times: perf has no number for what begins after a recording without such events. */
FN static void fault(char *p)
{
	sys(28, (long)p, PAGE, 4, 0, 0, 0); /* madvise: MADV_DONTNEED */
	*p = 1;
	sink++;
}

FN static void compare(char **argv)
{
	char *p = (char *)sys(9, 0, PAGE, 3, 0x22, -1, 0);
#ifdef MORE
	another();
#endif
	for (int i = 0; i < 400; i++) {
		fault(p);
		alpha(number(argv[1]));
		beta(number(argv[2]));
		if (number(argv[3])) /* a call that does nothing may be hit by the clock */
			gamma_(number(argv[3]));
	}
	sink++;
}

__attribute__((used)) FN void begin(long *sp)
{
	long argc = *sp;
	char **argv = (char **)(sp + 1), **envp = argv + argc + 1;
	if (argc == 2)
		sys(157, 15, (long)argv[0], 0, 0, 0, 0);
	for (int i = 0; argc == 1 && i < 4; i++)
		if (!sys(57, 0, 0, 0, 0, 0, 0)) /* fork */
			child(argv, envp, i);
	if (argc == 4)
		compare(argv);
	else
		work(argc, 400);
	for (int i = 0; argc == 1 && i < 4; i++)
		sys(61, -1, 0, 0, 0, 0, 0); /* wait4 */
	sys(60, 0, 0, 0, 0, 0, 0);
}

__asm__(".globl _start\n"
	".type _start,@function\n"
	"_start: xor %ebp,%ebp\n"
	"mov %rsp,%rdi\n"
	"and $-16,%rsp\n"
	"call begin\n"
	"hlt\n"
	".size _start,.-_start\n");
