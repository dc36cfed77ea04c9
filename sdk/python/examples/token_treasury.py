"""A token whose treasury pays by proposals: one opens, enough members agree, it pays."""

from cowboy_sdk import (
    NotFound, PermissionDenied, actor, emit_event, public,
    token_balance_of, token_create, token_info, token_transfer,
)


@actor
class Treasury:
    def init(self, msg):
        self.storage["members"] = [m.lower() for m in msg.members]
        self.storage["quorum"] = msg.quorum
        self.storage["next"] = 1
        self.storage["token"] = token_create(msg.get("name", "Treasury"), msg.get("symbol", "TRY"), 6, msg.supply, msg.supply)

    def _member(self, msg):
        if msg.sender not in self.storage["members"]:
            raise PermissionDenied("not a member")

    @public
    def propose(self, msg):
        self._member(msg)
        number = self.storage["next"]
        self.storage["next"] = number + 1
        self.storage[f"proposal:{number}"] = {"to": msg.to, "amount": msg.amount, "yes": [msg.sender]}
        emit_event("proposed", {"number": number, "to": msg.to, "amount": msg.amount})
        return number

    @public
    def agree(self, msg):
        self._member(msg)
        key = f"proposal:{msg.number}"
        proposal = self.storage.get(key)
        if proposal is None:
            raise NotFound("no such proposal")
        if msg.sender not in proposal["yes"]:
            proposal["yes"].append(msg.sender)
        if len(proposal["yes"]) < self.storage["quorum"]:
            self.storage[key] = proposal
            return False
        self.storage.delete(key)
        token_transfer(self.storage["token"], proposal["to"], proposal["amount"])
        emit_event("paid", {"number": msg.number, "to": proposal["to"], "amount": proposal["amount"]})
        return True

    @public
    def status(self, msg):
        token = self.storage["token"]
        return {"token": token, "left": token_balance_of(token), "supply": token_info(token)["total_supply"]}
