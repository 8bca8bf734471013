# The load balancer sends no identity, so everyone may invoke. The ingress setting rejects public requests that bypass the
# load balancer, and the function authorises each request by its bearer token. Requests from the project's own networks pass
# both the setting and Cloud Armor.
# Where an organisation policy forbids allUsers, the check of invokers is disabled instead. The resource type of functions has
# no argument for that: the output invoker_commands has the commands.
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
