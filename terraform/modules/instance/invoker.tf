# The load balancer sends no identity, so everyone may invoke. The ingress setting rejects public requests that bypass the
# load balancer, and the function authorises each request by its bearer token.
resource "google_cloud_run_v2_service_iam_member" "invoker" {
  for_each = local.functions

  project  = var.project_id
  location = var.region
  name     = google_cloudfunctions2_function.this[each.key].name
  role     = "roles/run.invoker"
  member   = "allUsers"

  lifecycle {
    replace_triggered_by = [google_cloudfunctions2_function.this[each.key].id]
  }
}
