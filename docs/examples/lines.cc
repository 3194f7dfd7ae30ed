/* SPDX-License-Identifier: Apache-2.0 */
/* lines.cc: what stands as an example in the comments of flextrace.hpp. */
#include <cstdint>
#include <string>
#include <vector>

#include <flextrace/flextrace.hpp>

class node
{
      public:
	std::string name() const
	{
		return "xw";
	}
	std::string type() const
	{
		return "matmul";
	}
	std::uint64_t id = 1;
	unsigned rows = 64;
};

struct block {
	std::uint32_t ts[5];
};

class executor
{
      public:
	void run(const node &n);
	void name(const node &op);
	void tell(const block &block);

      private:
	std::vector<node> pending;
	std::uint32_t device = 0, queue = 0;
};

/* clang-format off */
void executor::run(const node &n)
{
	flextrace::scope s{FLEXTRACE_RUNTIME_EXECUTE, n.name(), n.id, {{"rows", n.rows}}};
	const std::uint64_t submit_ns = flextrace_now_ns(), complete_ns = flextrace_now_ns();
	const block block = {{1000, 2000, 3000, 4000, 5000}};

	pending.push_back(n);
	flextrace::counter("queue depth", pending.size());
	flextrace::device_op{device, queue}.job(n.id).kind(FLEXTRACE_DEVICE_KERNEL)
		.name(n.name()).bracket(submit_ns, complete_ns).stamps(block.ts).emit();
}

void executor::tell(const block &block)
{
	flextrace::device_op{device, queue}.job(7).name("matmul").stamps(block.ts).emit();
}
/* clang-format on */

void executor::name(const node &op)
{
	flextrace::scope s{[&] { return op.type() + "/" + op.name(); }};
}

int main()
{
	executor e;

	e.run(node{});
	e.name(node{});
	e.tell(block{{6000, 7000, 8000, 9000, 10000}});
}
