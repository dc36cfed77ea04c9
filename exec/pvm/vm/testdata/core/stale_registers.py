# What a function left in its registers above a call is not what the called finds.


class Box:
    def __init__(self, content=None, /, **more):
        print(content, more)


class Maker:
    box = Box

    def make(self):
        return self.box()

    def work(self):
        self.make()

        class Failure(Exception):
            pass

        class Inner:
            def fail(self):
                raise Failure

        self.make()
        return self.make()


Maker().work()
