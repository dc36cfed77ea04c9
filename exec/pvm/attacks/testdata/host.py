import cowboy_sdk as k
from cowboy_sdk import runner, TaskGroup, capture
class Model(k.CowboyModel):
    a: object
    b: object = 1
