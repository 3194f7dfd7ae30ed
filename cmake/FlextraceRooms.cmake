# SPDX-License-Identifier: Apache-2.0
# Rooms: the borders of the converter, kept by the compiler.
#
# flextrace_room(NAME [DIR ...] HEADERS ... [SHARED ...] SOURCES ... USES ... [LIBS ...]), in the folder of the room, or
# above it, with its name as DIR:
#
#   HEADERS  what other rooms and the pipeline may include, spelled by its path ("model/identity/identity.h"); of a room
#            that is named in USES, or that such a room uses, these compile and no others
#   SHARED   what only rooms may include that use this one: not the pipeline and what stands above it
#   SOURCES  what is compiled into flextrace_core
#   USES     rooms whose headers this one may include: see "What sees what" in docs/architecture.md
#
# Files of a room include each other by name, or by path from below another folder of the room.
set(flextrace_rooms_dir ${PROJECT_BINARY_DIR}/rooms)

# Shows one file as `name` in room's headers.
function(flextrace_show_file room name file)
	if(NOT EXISTS ${file})
		message(FATAL_ERROR "Room ${room} shows a header that is not there: ${file}")
	endif()
	get_filename_component(below ${flextrace_rooms_dir}/${room}/${name} DIRECTORY)
	file(MAKE_DIRECTORY ${below})
	file(CREATE_LINK ${file} ${flextrace_rooms_dir}/${room}/${name} SYMBOLIC)
endfunction()

# Shows the headers of the current folder to who may look into ${flextrace_rooms_dir}/${name}.
function(flextrace_show_headers name folder)
	foreach(header ${ARGN})
		flextrace_show_file(${name} ${folder}/${header} ${CMAKE_CURRENT_SOURCE_DIR}/${header})
	endforeach()
endfunction()

function(flextrace_room name)
	cmake_parse_arguments(arg "" "DIR" "HEADERS;SHARED;SOURCES;USES;LIBS" ${ARGN})
	set(dir ${CMAKE_CURRENT_SOURCE_DIR})
	if(arg_DIR)
		set(dir ${dir}/${arg_DIR})
	endif()
	string(REGEX REPLACE "^${PROJECT_SOURCE_DIR}/(converter/)?" "" folder ${dir})
	# Headers that left the list must not stay visible.
	file(REMOVE_RECURSE ${flextrace_rooms_dir}/${name} ${flextrace_rooms_dir}/shared/${name}
		${flextrace_rooms_dir}/inside/${name})
	foreach(header ${arg_HEADERS})
		flextrace_show_file(${name} ${folder}/${header} ${dir}/${header})
	endforeach()
	foreach(header ${arg_SHARED})
		flextrace_show_file(shared/${name} ${folder}/${header} ${dir}/${header})
	endforeach()
	get_filename_component(above ${flextrace_rooms_dir}/inside/${name}/${folder} DIRECTORY)
	file(MAKE_DIRECTORY ${above} ${flextrace_rooms_dir}/${name} ${flextrace_rooms_dir}/shared/${name})
	file(CREATE_LINK ${dir} ${flextrace_rooms_dir}/inside/${name}/${folder} SYMBOLIC)

	list(TRANSFORM arg_SOURCES PREPEND ${dir}/)
	add_library(room_${name} OBJECT ${arg_SOURCES})
	target_include_directories(room_${name}
		PUBLIC ${flextrace_rooms_dir}/${name} ${flextrace_rooms_dir}/shared/${name}
		PRIVATE ${flextrace_rooms_dir}/inside/${name})
	list(TRANSFORM arg_USES PREPEND room_)
	target_link_libraries(room_${name} PRIVATE flextrace_options PUBLIC ${arg_USES} ${arg_LIBS})

	target_sources(flextrace_core PRIVATE $<TARGET_OBJECTS:room_${name}>)
	target_include_directories(flextrace_core PUBLIC $<BUILD_INTERFACE:${flextrace_rooms_dir}/${name}>)
	set_property(GLOBAL APPEND PROPERTY FLEXTRACE_CORE_SOURCES ${arg_SOURCES})
endfunction()

# Lets a target that stands above the rooms include what these show, and links flextrace_core without showing more.
function(flextrace_sees target)
	list(TRANSFORM ARGN PREPEND ${flextrace_rooms_dir}/ OUTPUT_VARIABLE folders)
	target_include_directories(${target} PRIVATE ${folders})
	target_link_libraries(${target} PRIVATE $<LINK_ONLY:flextrace_core>)
endfunction()
