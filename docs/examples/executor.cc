/* SPDX-License-Identifier: Apache-2.0 */
/* executor.cc: an executor of graphs of tensors, as ggml has one: its nodes in order, on a device. */
#include <string>
#include <vector>

#include <flextrace/flextrace.hpp>

#include "device.h"

struct tensor {
	std::string name;
	unsigned rows, columns;
};

struct node {
	std::string type;
	std::vector<const tensor *> inputs;
	tensor output;
};

class executor
{
      public:
	executor()
	{
		flextrace_device device = FLEXTRACE_DEVICE_INIT;
		flextrace_clock_domain counter = FLEXTRACE_CLOCK_DOMAIN_INIT;

		device.uuid = "0000:1a:00.0";
		counter.nominal_hz = DEVICE_HZ;
		flextrace::define_process("executor", "1.0");
		flextrace::define(device);
		flextrace::define(counter);
		device_open(nullptr);
	}
	~executor()
	{
		device_close();
	}

	void run(const std::vector<node> &graph, const std::string &request)
	{
		flextrace::scope whole{FLEXTRACE_RUNTIME_EXECUTE, "graph of " + request};

		for (const node &n : graph) {
			compute(n);
			flextrace::counter("computed", ++n_computed_);
		}
	}

      private:
	void compute(const node &n)
	{
		const std::uint64_t id = flextrace_next_correlation();
		FLEXTRACE_OP_SCOPE(n.output.name.c_str(), n.type.c_str(), "", 0, 0, id);
		device_block block{};

		for (const tensor *input : n.inputs)
			tell(id, false, *input);
		tell(id, true, n.output);
		block.job = n_computed_;
		block.work_us = n.output.rows;
		const std::uint64_t submit_ns = flextrace_now_ns();
		{
			flextrace::scope s{FLEXTRACE_RUNTIME_LAUNCH,
			                   n.type + " " + n.output.name,
			                   id,
			                   {{"rows", n.output.rows}, {"type", n.type}}};
			device_ring(&block);
		}
		flextrace::scope s{FLEXTRACE_RUNTIME_WAIT, n.output.name};
		device_wait(&block);
		flextrace::device_op{0}
			.job(block.job)
			.correlation(id)
			.kind(FLEXTRACE_DEVICE_KERNEL)
			.name(n.type)
			.bracket(submit_ns, flextrace_now_ns())
			.stamps(block.ts)
			.emit();
	}

	static void tell(std::uint64_t id, bool is_output, const tensor &t)
	{
		FLEXTRACE_TENSOR(id, is_output,
		                 (std::to_string(t.rows) + "x" + std::to_string(t.columns)).c_str(),
		                 "row major", "fp32", "HBM");
	}

	unsigned n_computed_ = 0;
};

int main()
{
	const tensor input{"x", 64, 64}, weights{"w", 64, 64};
	const tensor product{"xw", 64, 64};
	const std::vector<node> graph = {{"matmul", {&input, &weights}, product},
	                                 {"softmax", {&product}, {"y", 64, 64}}};
	executor e;

	for (unsigned i = 0; i < 50; i++) {
		flextrace::async_scope request{"request " + std::to_string(i)};
		e.run(graph, std::to_string(i));
	}
}
