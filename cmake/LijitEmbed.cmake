# SPDX-License-Identifier: Apache-2.0
# lijit_embed(variable namespace::name FILES ...): writes a .cc that defines
#   std::span<const EmbeddedFile> name()
# with every file's base name and text, and puts its path into `variable`.
function(lijit_embed variable function)
  cmake_parse_arguments(PARSE_ARGV 2 arg "" "" "FILES")
  string(REPLACE "::" "_" stem ${function})
  set(output ${CMAKE_CURRENT_BINARY_DIR}/${stem}.cc)
  set(inputs "")
  foreach(file IN LISTS arg_FILES)
    list(APPEND inputs ${CMAKE_CURRENT_SOURCE_DIR}/${file})
  endforeach()
  add_custom_command(OUTPUT ${output}
    COMMAND ${CMAKE_COMMAND} -DOUTPUT=${output} -DFUNCTION=${function} "-DINPUTS=${inputs}"
            -P ${PROJECT_SOURCE_DIR}/cmake/embed.cmake
    DEPENDS ${inputs} ${PROJECT_SOURCE_DIR}/cmake/embed.cmake VERBATIM)
  set(${variable} ${output} PARENT_SCOPE)
endfunction()
