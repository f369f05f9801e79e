#include "layers/pass.h"

#include "core/error.h"

namespace tapeline::inline TAPELINE_PRECISION {

Dropout Pass::dropout_at(std::string_view place, Index layer) const {
  if (!dropout) return {};
  Dropout here = *dropout;
  here.key = here.key.child(place).child(static_cast<std::uint64_t>(layer));
  return here;
}

Pass::Scratch::Scratch(Pass& pass) : pass_(pass), mark_(pass.tape.arena().mark()), made_(pass.made_) {
  require<StateError>(!pass.tape.recording(),
                      "scratch memory of a pass: the tape records and still needs its values; use a tape "
                      "with Recording::off");
}

Pass::Scratch::~Scratch() {
  pass_.made_ = made_;
  pass_.tape.arena().rewind(mark_);
}

}  // namespace tapeline::inline TAPELINE_PRECISION
