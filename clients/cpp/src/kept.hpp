// What is kept of a license, and how it is joined with the changes of a run that could not read it.
#pragma once

#include "rules.hpp"

namespace latchkey {

/// Returns the `machine_id` of an identity; empty without one.
std::string machine_id_of(const Json& machine);
/// Returns the `machine_id` of the kept identity; empty without one.
std::string own_machine_id(const Json& kept);
/// Chooses the identity of the machine: the new reading, else the last good one, else a random one that is kept from now on.
Json choose_machine(const Json& kept, const Json& reading, const std::string& uuid);
/// The machine of this activation is wanted again: it is not released any more.
void cancel_release(Json& kept, const std::optional<std::string>& activation_id);
/// Whether there is a key or an entitlement.
bool is_activated(const Json& kept);
/// Returns the content of a file that could not be read at first, with the changes of the run since then. A trial of the run does not
/// replace a license. @param has_own_license whether the run activated a license, apart from a trial, or removed it again
Json join_run(const Json& file, const Json& run, bool has_own_license);

}  // namespace latchkey
