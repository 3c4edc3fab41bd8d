# SPDX-License-Identifier: MIT
"""rdma_chain: the writes of rdma_plan, followed by the message (docs/oracle.md, "A chain")."""

from mapping import rdma_plan


def rdma_chain(form):
    plan = rdma_plan(form)["plan"]
    requests = [{"opcode": "write", "signaled": False, "rkey": plan["rkey"],
                 **{name: request[name] for name in ("remote_addr", "first_sge", "num_sge")}} for request in plan["wr"]]
    entries = [dict(entry, lkey=plan["lkey"]) for entry in plan["sge"]]
    requests.append({"opcode": "send", "signaled": True, "rkey": "0x0", "remote_addr": "0x0", "first_sge": len(entries),
                     "num_sge": 1})
    return {"chain": {"wr": requests, "sge": [*entries, form["message"]]}}
