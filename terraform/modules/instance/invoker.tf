# The load balancer brings no identity of its own, so everyone may invoke; the ingress setting lets in nobody but the load
# balancer, and who may do what is decided by the function, by the bearer token.
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
