// All tests of the runtime.
#pragma once

void device_and_errors();
void memory();
void launches();
void parameters();
void graphs();
void captures();
void joined_captures();
void events();
void streams();
