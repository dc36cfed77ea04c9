package main

import (
	"context"
	"fmt"

	"github.com/cowboy-foundation/cowboy/chain"
	"github.com/cowboy-foundation/cowboy/node/client"
	"github.com/cowboy-foundation/cowboy/node/rpc"
)

type jobList struct {
	Submitter string `placeholder:"ADDRESS" help:"Jobs that this account has asked for; default: the own account."`
	Runner    string `placeholder:"ADDRESS" help:"Jobs that this runner was drawn for instead."`
	Limit     uint64 `default:"20" placeholder:"N" help:"Most jobs to print."`
	After     string `placeholder:"PLACE" help:"Where to go on, as the page before said."`
	Oldest    bool   `help:"Oldest job first."`
}

// Help teaches the command.
func (jobList) Help() string {
	return "Newest first. A node notes whose jobs are which from the blocks that it commits: one that began with a snapshot has no older ones, and says so. Of a job that ended long ago the chain keeps nothing but its place. Who was drawn for two attempts of a job has two lines.\n\nExample:\n\n    cowboy job list\n    cowboy job list --submitter 0x… --limit 5\n    cowboy job list --runner 0x… --json"
}

// Run prints the list.
func (c *jobList) Run(ctx context.Context, s *session) error {
	ask, err := c.query(s)
	if err != nil {
		return err
	}
	api, err := s.api()
	if err != nil {
		return err
	}
	page, err := api.Jobs(ctx, ask)
	if err != nil {
		return err
	}
	text := &lines{}
	for i := range page.Jobs {
		text.add("%s", listedText(&page.Jobs[i]))
	}
	if len(page.Jobs) == 0 {
		text.add("No jobs")
	}
	if page.Next != "" {
		text.add("more with --after %s", page.Next)
	} else if page.Since > 1 {
		text.add("This node knows the jobs from block %d on", page.Since)
	}
	return s.show(page, text)
}

// query reads whose jobs are asked for.
func (c *jobList) query(s *session) (client.JobList, error) {
	ask := client.JobList{After: c.After, Limit: c.Limit, OldestFirst: c.Oldest}
	if c.Submitter != "" && c.Runner != "" {
		return ask, usagef("give --submitter or --runner")
	}
	if c.Runner != "" {
		runner, err := client.ParseAddress(c.Runner)
		ask.Runner = &runner
		return ask, asUsage(err)
	}
	submitter, err := s.addressOr(c.Submitter)
	ask.Submitter = &submitter
	return ask, err
}

// listedText is a job of a list in a line.
func listedText(j *rpc.ListedJobReply) string {
	if j.Job == nil {
		return fmt.Sprintf("%d %s ended long ago", j.BlockHeight, j.JobID)
	}
	return fmt.Sprintf("%d %s %s: %s", j.BlockHeight, j.JobID, j.Job.Status, phaseText(j.Job))
}

type runnerJobs struct {
	Address string `arg:"" optional:"" placeholder:"ADDRESS" help:"Runner; default: the own account."`
	Limit   uint64 `default:"50" placeholder:"N" help:"Most jobs to print."`
	After   string `placeholder:"JOB" help:"Where to go on, as the page before said."`
}

// Help teaches the command.
func (runnerJobs) Help() string {
	return "What is asked for is printed by \"cowboy job get\"; \"runner commit\" and \"runner reveal\" answer. The list is that of one block.\n\nExample:\n\n    cowboy runner jobs\n    cowboy runner jobs 0x… --json"
}

// Run prints what a runner owes.
func (c *runnerJobs) Run(ctx context.Context, s *session) error {
	addr, err := s.addressOr(c.Address)
	if err != nil {
		return err
	}
	if c.After != "" {
		if _, err := client.ParseHash(c.After); err != nil {
			return usageError{err}
		}
	}
	api, err := s.api()
	if err != nil {
		return err
	}
	page, err := api.RunnerJobs(ctx, addr, c.After, c.Limit)
	if err != nil {
		return err
	}
	text := &lines{}
	for i := range page.Jobs {
		text.add("%s", dueText(&page.Jobs[i], page.Height))
	}
	if len(page.Jobs) == 0 {
		text.add("Nothing is due at block %d", page.Height)
	}
	if page.Next != "" {
		text.add("more with --after %s", page.Next)
	}
	return s.show(page, text)
}

// dueText is what is due of a seat, in a line.
func dueText(a *rpc.AssignmentReply, head chain.Height) string {
	line := fmt.Sprintf("%s attempt %d, %s: ", a.JobID, a.Attempt+1, a.Role)
	switch {
	case a.Due == "wait":
		return line + fmt.Sprintf("wait for the others, until block %d at the latest", a.DueBy)
	case a.Due == "aggregate":
		return line + fmt.Sprintf("reveal the results of all by block %d", a.DueBy)
	case a.DueFrom > head+1:
		return line + fmt.Sprintf("%s from block %d to %d; before that the aggregator alone reveals", a.Due, a.DueFrom, a.DueBy)
	}
	return line + fmt.Sprintf("%s by block %d", a.Due, a.DueBy)
}
