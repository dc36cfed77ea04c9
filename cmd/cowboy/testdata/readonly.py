"""Tries every call of the chain that changes something, and tells how each ended."""

from cowboy_sdk import *


@actor
class Meddler:
    @public
    def go(self, msg):
        A = "0x" + "11" * 20
        T = "0x" + "22" * 32
        tries = {
            "set": lambda: set_state("a", 1), "delete": lambda: delete_state("a"), "bond": lambda: storage.bond(1 << 20),
            "send": lambda: send(A, 1), "defer": lambda: create_deferred_tx(A, "x"), "event": lambda: emit_event("x"),
            "spawn": lambda: spawn(b"x"), "transfer": lambda: transfer(A, 0), "timer": lambda: set_timer(10**6, "go"),
            "interval": lambda: set_interval(5, "go"), "extend": lambda: extend_timer(T, 10**7), "cancel": lambda: cancel_timer(T),
            "create": lambda: token_create("a", "b"), "ttransfer": lambda: token_transfer(T, A, 1), "approve": lambda: token_approve(T, A, 1),
            "mint": lambda: token_mint(T, A, 1), "burn": lambda: token_burn(T, 1), "freeze": lambda: token_freeze(T, A),
            "tfrom": lambda: token_transfer_from(T, A, A, 1), "batch": lambda: token_transfer_batch(T, [(A, 1)]),
            "thook": lambda: token_set_hook(T, None), "towner": lambda: token_transfer_ownership(T, None),
            "prepay": lambda: rent.prepay(1), "sponsor": lambda: rent.sponsor(A, 1), "blob": lambda: blob_commit(b"x"),
            "job": lambda: submit_job({"job_type": "llm"}), "secret": lambda: secrets.store("a", b"x"), "forget": lambda: secrets.delete("a"),
            "restore": lambda: storage.restore(A, {"a": 1}),
        }
        out = {}
        for name in tries:
            try:
                out[name] = "done " + repr(tries[name]())
            except CowboyError as e:
                out[name] = e.code
        return out
