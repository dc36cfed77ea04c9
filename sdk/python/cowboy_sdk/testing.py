"""What tests of actors import: a chain in memory and names for accounts.

    from cowboy_sdk.testing import Chain, account

    chain = Chain()
    counter = chain.deploy("examples/counter.py")
    assert chain.execute(counter, "add", 5).check().output == 5
"""

from ._chain import Chain, Event, Job, Receipt, Sent, Timer, account

__all__ = ["Chain", "Event", "Job", "Receipt", "Sent", "Timer", "account"]
