"""Asks the chain for randomness, blobs, hashes and checks of signatures."""

from cowboy_sdk import *


@actor
class Services:
    @public
    def roll(self, msg):
        return [vrf.randomness(label) for label in msg.payload]

    @public
    def where(self, msg):
        return [current_block(), get_timestamp_ms(), get_chain_id(), get_sender(), get_origin(), get_creator(), get_value()]

    @public
    def commit(self, msg):
        return blob_commit(b"x" * msg.payload)

    @public
    def blob(self, msg):
        data = blob_get(msg.payload)
        return None if data is None else [len(data), keccak256(data)]

    @public
    def publish(self, msg):
        """Names data that is kept elsewhere, by its multihash."""
        self.storage["document"] = msg.payload

    @public
    def check(self, msg):
        """Whether what is brought is what was published."""
        return b"\x1b\x20" + keccak256(msg.payload) == self.storage["document"]

    @public
    def hashes(self, msg):
        return [keccak256(msg.payload), sha256(msg.payload)]

    @public
    def signatures(self, msg):
        m = msg.payload
        return [
            verify_secp256k1(m["key"], m["digest"], m["signature"]), secp256k1.recover(m["digest"], m["signature"]),
            ed25519.verify(m["ed_key"], m["text"], m["ed_signature"]),
            bls.verify(m["bls_key"], m["text"], m["bls_signature"], b"ns"),
            vrf.verify(m["bls_key"], m["text"], m["proof"], b"ns"),
        ]

    @public
    def typed(self, msg):
        m = msg.payload
        return [eip712_digest(m["domain"], m["struct"]), verify_eip712(m["signer"], m["domain"], m["struct"], m["signature"])]
