# SPDX-License-Identifier: Apache-2.0
# Unit tests that take more than some 3 s with sanitizers: scripts/check leaves them out, scripts/test does not.
foreach(name aie aie_words align_rates align_scenarios align_short allocations area_file area_model calibrate clock_changes clock_memory
	clock_reuse clock_scenarios clock_wander ctf_damage emulator flex flex_bars flex_damage flex_data flex_epochs
	flex_hard flex_memory flex_misaligned flex_names ledger losses messages_truth pair_align pairing pipeline row_sorter salvage_kills
	select torch_data trace_damage trace_files tt_csv tt_data)
	if(TEST unit.${name})
		set_property(TEST unit.${name} APPEND PROPERTY LABELS slow)
	endif()
endforeach()
foreach(name costs instructions riscv)
	if(TEST freestanding.${name})
		set_property(TEST freestanding.${name} APPEND PROPERTY LABELS slow)
	endif()
endforeach()
