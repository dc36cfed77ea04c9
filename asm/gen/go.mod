module github.com/cowboy-foundation/cowboy/asm/gen

go 1.26.0
