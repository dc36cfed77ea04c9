from cowboy_sdk import secrets

# Actor stores an API key (encrypted to authorized runners)
secrets.store(
    key="broker_api_key",
    value="sk-...",
    access_policy={
        "runners": ["tee_required"],           # Only TEE runners
        "entitlements": ["region_us"],          # Only US-based runners
        "job_types": ["http"]                   # Only for HTTP jobs
    }
)
from cowboy_sdk import rent

# Prepay rent for 1000 epochs
rent.prepay(epochs=1000)

# Check rent status
status = rent.status()  # {paid_through_epoch: 15000, balance_epochs: 847}
rent.sponsor(actor_address="0x...", epochs=100)
original_data = {"price": 100}
sponsor_address = "0x00000000000000000000000000000000000000cc"
from cowboy_sdk import storage

# Anyone with the data can restore an actor
storage.restore(
    actor_address="0x...",
    storage_data=original_data,  # Must match recorded root hash
    pay_from=sponsor_address     # Can be actor itself or sponsor
)
