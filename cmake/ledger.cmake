# The budget ledger: a room that needs SQLite, and an installed library of its own, tradeoff::ledger (docs/adr/0014). libpq is loaded when it
# is used, so that nothing here needs it.
if(TRADEOFF_LEDGER)
  find_path(TRADEOFF_SQLITE_INCLUDE sqlite3.h)
  if(TRADEOFF_PYTHON OR BUILD_SHARED_LIBS)
    find_library(TRADEOFF_SQLITE NAMES sqlite3) # Debian's static one cannot be part of a shared module; Python itself needs the shared one
  else()
    find_library(TRADEOFF_SQLITE NAMES libsqlite3.a sqlite3) # what we ship needs the C and C++ runtime only (tools/check_linkage)
  endif()
  find_package(nlohmann_json QUIET)
  if(NOT TRADEOFF_SQLITE_INCLUDE OR NOT TRADEOFF_SQLITE OR NOT nlohmann_json_FOUND)
    message(FATAL_ERROR "The budget ledger needs SQLite and nlohmann/json (Debian: libsqlite3-dev, nlohmann-json3-dev); "
                        "-D TRADEOFF_LEDGER=OFF builds without it")
  endif()
endif()

# What programs link that hold the objects of the room.
set(ledger_libraries)
if(TRADEOFF_LEDGER)
  set(ledger_libraries ${TRADEOFF_SQLITE} ${CMAKE_DL_LIBS})
endif()

# Called once the room and the library `tradeoff` exist.
function(finish_ledger)
  target_include_directories(tradeoff_ledger PRIVATE ${TRADEOFF_SQLITE_INCLUDE})
  target_link_libraries(tradeoff_ledger INTERFACE ${ledger_libraries})
  target_compile_definitions(tradeoff_ledger INTERFACE TRADEOFF_WITH_LEDGER)
  if(BUILD_SHARED_LIBS) # it uses private parts of the library, which a shared one hides: both are one
    target_sources(tradeoff_shared PRIVATE $<TARGET_OBJECTS:tradeoff_ledger> $<TARGET_OBJECTS:tradeoff_report>)
    target_link_libraries(tradeoff_shared PRIVATE ${ledger_libraries})
    add_library(tradeoff_ledger_library INTERFACE)
    set_target_properties(tradeoff_ledger_library PROPERTIES EXPORT_NAME ledger)
    target_link_libraries(tradeoff_ledger_library INTERFACE tradeoff_shared)
    add_library(tradeoff::ledger ALIAS tradeoff_ledger_library)
    return()
  endif()
  add_library(tradeoff_ledger_library STATIC $<TARGET_OBJECTS:tradeoff_ledger> $<TARGET_OBJECTS:tradeoff_report>)
  set_target_properties(tradeoff_ledger_library PROPERTIES OUTPUT_NAME tradeoff_ledger EXPORT_NAME ledger LINKER_LANGUAGE CXX)
  target_link_libraries(tradeoff_ledger_library PUBLIC tradeoff $<BUILD_INTERFACE:${TRADEOFF_SQLITE}> $<INSTALL_INTERFACE:SQLite::SQLite3>
                                                       ${CMAKE_DL_LIBS})
  add_library(tradeoff::ledger ALIAS tradeoff_ledger_library)
endfunction()
