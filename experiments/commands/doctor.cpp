#include "experiments/commands/doctor.h"

#include <unistd.h>

#include <memory>
#include <nlohmann/json.hpp>

#include "core/error.h"
#include "experiments/commands/common.h"
#include "experiments/doctor/build.h"
#include "experiments/doctor/libraries.h"
#include "experiments/doctor/memory.h"
#include "experiments/doctor/processor.h"
#include "experiments/doctor/programs.h"
#include "experiments/doctor/storage.h"
#include "experiments/doctor/text.h"
#include "experiments/exit_code.h"
#include "experiments/output.h"
#include "experiments/table.h"
#include "train/terminal.h"

namespace tapeline {
namespace {

struct DoctorCommand {
  std::string out = "runs";
  OutputOptions output;
};

/// Adds what a part of the machine shows. A part that cannot even be looked at is a finding too: the others
/// are still wanted.
template <class Examine>
void add(Findings& all, const char* id, const Examine& examine) {
  try {
    const Findings found = examine();
    all.insert(all.end(), found.begin(), found.end());
  } catch (const std::exception& error) {
    all.push_back({id, Finding::State::problem, error.what(), {}});
  }
}

int doctor(const DoctorCommand& command) {
  command.output.set_up();
  Findings findings;
  add(findings, "program", [] { return examine_build(); });
  add(findings, "libraries", [] { return examine_libraries(); });
  add(findings, "processor", [] { return examine_processor(); });
  add(findings, "memory", [] { return Findings{examine_memory()}; });
  add(findings, "folder", [&] { return examine_storage(command.out); });
  add(findings, "programs", [] { return examine_programs(); });
  if (command.output.json) {
    write_output(printed_json(findings_json(findings)));
  } else {
    write_output(
        findings_text(findings, terminal_width(), !command.output.quiet, colour_wanted(STDOUT_FILENO)));
  }
  return count(findings, Finding::State::problem) > 0 ? exit_code::unmet : exit_code::done;
}

}  // namespace

Command doctor_command() {
  const auto options = std::make_shared<DoctorCommand>();
  Command command{.name = "doctor",
                  .description = "what of this machine is not right, and the line that mends it",
                  .examples = {"tapeline doctor --out runs"},
                  .run = [options] { return doctor(*options); },
                  .computes = true};
  command.options = {{.name = "--out",
                      .value = "DIR",
                      .help = "the folder that runs will be written to; default runs",
                      .target = &options->out,
                      .path = Option::Path::folder}};
  command.details = {
      "Looks at the libraries, threads, memory, processor, run folder and programs that tapeline uses, and "
      "measures the speed of one product of matrices. Each finding is ok, a note, or a problem with the line "
      "that mends it; the exit status is 4 when there is a problem."};
  options->output.add_to(command);
  return command;
}

}  // namespace tapeline
