# The load balancer sends no identity, so everyone may invoke. The ingress setting rejects public requests that bypass the
# load balancer, and the function authorises each request by its bearer token. Requests from the project's own networks pass
# both the setting and Cloud Armor.
# A grant belongs to the service, not to its revisions: an update of the function keeps it.
resource "google_cloud_run_v2_service_iam_member" "invoker" {
  for_each = { for name, settings in local.functions : name => settings if var.public_access == "allUsers" }

  project  = var.project_id
  location = var.region
  name     = google_cloudfunctions2_function.this[each.key].name
  role     = "roles/run.invoker"
  member   = "allUsers"

  lifecycle {
    replace_triggered_by = [google_cloudfunctions2_function.this[each.key].id]
  }
}

# Where an organisation policy forbids allUsers, Cloud Run's check of invokers is disabled instead. The resource type of functions
# has no argument for that, and a second resource for the same service would undo what the function sets: the output
# invoker_commands has the commands, and these data sources show whether they have had their effect.
locals {
  unchecked = { for name, settings in local.functions : name => settings if var.public_access == "unchecked" }

  # Terraform defers the reading of a data source that refers to a resource with pending changes, but not through a local value.
  services = { for key, function in google_cloudfunctions2_function.this : key => basename(function.id) }
}

# The services that exist before an apply: the id of a function is unknown until its creation, which defers its reading.
data "google_cloud_run_v2_service" "before" {
  for_each = local.unchecked

  project  = var.project_id
  location = var.region
  name     = local.services[each.key]
}

data "google_cloud_run_v2_service_iam_policy" "before" {
  for_each = local.unchecked

  project  = var.project_id
  location = var.region
  name     = local.services[each.key]
}

# The services after the functions have changed.
data "google_cloud_run_v2_service" "after" {
  for_each = local.unchecked

  project  = var.project_id
  location = var.region
  name     = each.value.name

  depends_on = [google_cloudfunctions2_function.this]
}
