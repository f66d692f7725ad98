# SPDX-License-Identifier: Apache-2.0
# The library lijit::lijit, put together from the layers, and its CMake package.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)

get_property(layers GLOBAL PROPERTY LIJIT_LAYERS)
set(objects "")
foreach(layer IN LISTS layers)
  list(APPEND objects $<TARGET_OBJECTS:${layer}>)
endforeach()
add_library(lijit ${objects})
add_library(lijit::lijit ALIAS lijit)
# Before 1.0 a new minor version may break its users, so it is part of the SOVERSION.
set_target_properties(lijit PROPERTIES
  LINKER_LANGUAGE CXX VERSION ${PROJECT_VERSION} POSITION_INDEPENDENT_CODE ON
  SOVERSION ${PROJECT_VERSION_MAJOR}.${PROJECT_VERSION_MINOR})
target_compile_features(lijit PUBLIC cxx_std_20)
target_include_directories(lijit PUBLIC $<BUILD_INTERFACE:${PROJECT_SOURCE_DIR}/include>
                                        $<INSTALL_INTERFACE:${CMAKE_INSTALL_INCLUDEDIR}>)
target_link_libraries(lijit PRIVATE
                      fmt::fmt Threads::Threads ${CMAKE_DL_LIBS} PkgConfig::zstd PkgConfig::xxhash
                      PkgConfig::crypto)
if(LIJIT_HAS_LLVM)
  target_link_libraries(lijit PRIVATE LLVM)
endif()

install(TARGETS lijit EXPORT lijit-targets)
install(DIRECTORY include/lijit DESTINATION ${CMAKE_INSTALL_INCLUDEDIR})
install(EXPORT lijit-targets NAMESPACE lijit:: DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lijit)
configure_package_config_file(cmake/lijit-config.cmake.in lijit-config.cmake
  INSTALL_DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lijit)
write_basic_package_version_file(lijit-config-version.cmake COMPATIBILITY SameMinorVersion)
install(FILES ${CMAKE_CURRENT_BINARY_DIR}/lijit-config.cmake
              ${CMAKE_CURRENT_BINARY_DIR}/lijit-config-version.cmake
        DESTINATION ${CMAKE_INSTALL_LIBDIR}/cmake/lijit)
export(EXPORT lijit-targets NAMESPACE lijit:: FILE ${CMAKE_CURRENT_BINARY_DIR}/lijit-targets.cmake)
