# Writes assembly that stands for the functions of libgit2 which the given objects call: each jumps
# to where its slot points. src/git/load.cpp fills the slots when Git is first needed, so that
# commands without Git do not load libgit2 and the twelve libraries behind it.
#
#   cmake -DNM=nm -DPROCESSOR=x86_64 -DOBJECTS=a.o,b.o -DOUTPUT=stubs.S -P libgit2_stubs.cmake
string(REPLACE "," ";" objects "${OBJECTS}")
execute_process(COMMAND ${NM} -u ${objects} OUTPUT_VARIABLE undefined COMMAND_ERROR_IS_FATAL ANY)
string(REGEX MATCHALL "[ \t]git_[a-z0-9_]+" found "${undefined}")
list(TRANSFORM found STRIP)
list(SORT found)
list(REMOVE_DUPLICATES found)
set(code "")
set(names "")
set(slots "")
foreach(name IN LISTS found)
  string(APPEND code "    .globl ${name}\n    .hidden ${name}\n    .type ${name}, %function\n${name}:\n")
  if(PROCESSOR STREQUAL "x86_64")
    string(APPEND code "    jmp *slot_${name}(%rip)\n")
  else()
    string(APPEND code "    adrp x16, slot_${name}\n    ldr x16, [x16, :lo12:slot_${name}]\n    br x16\n")
  endif()
  string(APPEND names "    .asciz \"${name}\"\n")
  string(APPEND slots "slot_${name}:\n    .skip 8\n")
endforeach()
file(WRITE ${OUTPUT} "\
    .text
${code}\
    .section .rodata
    .globl gpuctl_libgit2_names
    .hidden gpuctl_libgit2_names
gpuctl_libgit2_names:
${names}\
    .asciz \"\"
    .bss
    .balign 8
    .globl gpuctl_libgit2_slots
    .hidden gpuctl_libgit2_slots
gpuctl_libgit2_slots:
${slots}\
    .section .note.GNU-stack,\"\",%progbits
")
