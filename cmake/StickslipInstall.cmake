# The installed package: find_package(stickslip) gives stickslip::stickslip.
include(GNUInstallDirs)
include(CMakePackageConfigHelpers)
set(package_dir "${CMAKE_INSTALL_LIBDIR}/cmake/stickslip")
install(TARGETS stickslip EXPORT stickslip COMPONENT library)
install(DIRECTORY "${PROJECT_SOURCE_DIR}/include/stickslip"
  DESTINATION "${CMAKE_INSTALL_INCLUDEDIR}" COMPONENT library)
install(EXPORT stickslip FILE stickslipTargets.cmake NAMESPACE stickslip::
  DESTINATION "${package_dir}" COMPONENT library)
configure_package_config_file("${PROJECT_SOURCE_DIR}/cmake/stickslipConfig.cmake.in"
  "${PROJECT_BINARY_DIR}/stickslipConfig.cmake" INSTALL_DESTINATION "${package_dir}")
write_basic_package_version_file("${PROJECT_BINARY_DIR}/stickslipConfigVersion.cmake"
  COMPATIBILITY SameMinorVersion)
install(FILES "${PROJECT_BINARY_DIR}/stickslipConfig.cmake"
  "${PROJECT_BINARY_DIR}/stickslipConfigVersion.cmake"
  DESTINATION "${package_dir}" COMPONENT library)
