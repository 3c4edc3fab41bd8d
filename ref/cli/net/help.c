/* SPDX-License-Identifier: MIT */
#include <stdio.h>

#include "cli/net/options.h"

/* clang-format off */
static const char serve_head[] =
	"usage: o2ref serve [OPTION]...\n"
	"\n"
	"Be a peer: answer LNet pings, and offer memory to PUTs and GETs, until SIGINT or SIGTERM.\n"
	"\n"
	"what is offered:\n"
	"  --buffer PORTAL:MATCHBITS[:BYTES][:ro]\n"
	"                     memory at that portal and under those match bits; 8388608 bytes\n"
	"                     unless said otherwise, at most 67108864; with ro, for GETs alone.\n"
	"                     May be given 16 times (default: 60:0x1234 and 61:0x1234:ro)\n"
	"  --fragments N      pieces that it consists of, 1 to 257 (default: 1)\n"
	"  --truncate         cut what is too long instead of dropping it\n"
	"  --seed N           of the bytes that it holds at first, and of those that --verify\n"
	"                     expects (default: 1)\n"
	"  --verify           look at every byte that a PUT brings: they must be what `o2ref put`\n"
	"                     sends; if others write to the same place at the same time, they may be\n"
	"                     theirs, and that is counted apart\n"
	"  --requests N       end after so many PUTs and GETs\n"
	"  --features N       bits of the answer to pings (default: 0xe; 0x1e offers discovery)\n"
	"  --timeout N        seconds after which a peer that does not answer is gone (default: 50)\n";

static const char ping_head[] =
	"usage: o2ref ping [OPTION]... NID\n"
	"\n"
	"Ask the node what it is: LNet's ping, a GET at portal 0.  Shows its NIDs and how long it took.\n"
	"\n"
	"  --count N          how many times (default: 1)\n"
	"  --interval N       milliseconds from one to the next (default: 1000)\n"
	"  --timeout N        seconds to wait for an answer (default: 50)\n";

static const char put_head[] =
	"usage: o2ref put [OPTION]... NID\n"
	"\n"
	"PUT to the node's memory, and wait for LNet's acknowledgement of each.\n"
	"\n"
	"what is moved:\n"
	"  --portal N         portal at the peer (default: 60)\n";

static const char get_head[] =
	"usage: o2ref get [OPTION]... NID\n"
	"\n"
	"GET from the node's memory.\n"
	"\n"
	"what is moved:\n"
	"  --portal N         portal at the peer (default: 61)\n";

static const char moves[] =
	"  --match-bits N     match bits (default: 0x1234)\n"
	"  --offset N         offset in the peer's memory (default: 0)\n"
	"  --count N          how many (default: 1)\n"
	"  --size N           bytes of each, 1 to 1048576 (default: 65536); up to 3976 travel in the\n"
	"                     message itself, more by RDMA\n"
	"  --fragments N      pieces that our memory consists of, 1 to 257 (default: 1); if it has\n"
	"                     fewer pages, there are gaps between the pieces, and only global, fmr\n"
	"                     and fastreg_gaps can describe that; user needs one piece\n"
	"  --in-flight N      how many at a time, 1 to 255 (default: 8)\n"
	"  --seed N           of the data (default: 1)\n"
	"  --timeout N        seconds after which one that does not end has failed (default: 50)\n";

static const char put_tail[] =
	"  --verify           GET every PUT back and look at the bytes; several in flight then go to\n"
	"                     different offsets, --size apart; the last at most 4294967295\n"
	"  --no-ack           do not ask for acknowledgements\n";

static const char get_tail[] =
	"  --verify           look at the bytes: they must be what `o2ref serve` with the same --seed\n"
	"                     holds, where nobody has PUT something else\n"
	"  --accept-short     less than was asked for is a success, if it is right\n";

static const char own[] =
	"\n"
	"our side:\n"
	"  --device NAME      RDMA device, as ibv_devices lists it (default: the first one); `loop`: a\n"
	"                     network in the process, where whatever node is asked for serves, with\n"
	"                     seed 1, 8 MiB at each of the default places of serve, and more if\n"
	"                     put --verify has more in flight\n"
	"  --nid NID          our own NID, e.g. 10.77.0.1@o2ib (default: the device's IPv4 address, on\n"
	"                     the network of the peer)\n"
	"  --port N           port of the connection manager (default: 987, as o2iblnd's)\n"
	"  --mode MODE        how memory is registered: fastreg (the default), fmr, global, user, phys\n"
	"                     or fastreg_gaps\n"
	"  --queue-depth N    credits to ask for, 2 to 255 (default: 8)\n"
	"  --max-frags N      fragments to ask for, 257 (the default) or 256\n"
	"  --ack-timeout N    1 to 31: the device sends again when nothing was acknowledged for 4.096 us\n"
	"                     times 2 to the power of N (default: 19, that is 2.1 s)\n"
	"  --retries N        how often it does before it gives up, 0 to 6 (default: 5)\n"
	"  --rnr-retries N    how often while the peer has no receive posted, 0 to 6 (default: 6)\n"
	"  --checksum KIND    of the messages that we send: off (the default), unsigned or signed, as\n"
	"                     the peer adds up its bytes; auto: as its own first sum shows, and none\n"
	"                     until then\n"
	"  --tolerate-immediate-checksum\n"
	"                     accept an IMMEDIATE with a payload whose checksum is wrong\n"
	"\n"
	"output:\n"
	"  --json             the summary as one JSON object\n";

static const char progress[] =
	"  --progress         a line on standard error every second (on a terminal that happens\n"
	"                     without it)\n";

static const char verbose[] =
	"  --verbose          a line for each request of a peer; serve: also why a connection has ended\n";

static const char quirks[] =
	"\n"
	"behaviour that a peer may show, for trying the other side on it:\n"
	"  --quirk NAME[=VALUE],...\n"
	"                     this node behaves so; may be given several times:\n";

static const char loop_quirk[] =
	"  --loop-quirk NAME[=VALUE],...\n"
	"                     how the peer that device loop has behaves:\n"
	"                     `o2ref serve --help` lists them\n";

static const char end[] =
	"  -h, --help         this text\n"
	"\n"
	"exit status: 0 all is well, 1 something failed or came out wrong, 2 usage or no device\n";
/* clang-format on */

static void print_quirks(void)
{
	fputs(quirks, stdout);
	for (unsigned int i = 0; i < O2_QUIRKS; i++)
		printf("  %-20s %s\n", o2_quirk_form(i), o2_quirk_text(i));
}

void o2_net_print_help(enum o2_net_command command)
{
	switch (command) {
	case O2_NET_SERVE:
		printf("%s%s%s%s", serve_head, own, progress, verbose);
		print_quirks();
		break;
	case O2_NET_PING:
		printf("%s%s%s%s", ping_head, own, verbose, loop_quirk);
		break;
	case O2_NET_PUT:
		printf("%s%s%s%s%s%s%s", put_head, moves, put_tail, own, progress, verbose, loop_quirk);
		break;
	case O2_NET_GET:
		printf("%s%s%s%s%s%s%s", get_head, moves, get_tail, own, progress, verbose, loop_quirk);
		break;
	}
	fputs(end, stdout);
}
