# Computed values that the provider or an assertion expects in a certain form, for the tests of all modules.

mock_resource "google_certificate_manager_dns_authorization" {
  defaults = {
    dns_resource_record = [{ name = "_acme-challenge.example.com.", type = "CNAME", data = "1.authorize.certificatemanager.goog." }]
  }
}

mock_resource "google_compute_global_address" {
  defaults = { address = "203.0.113.7" }
}

mock_resource "google_service_account" {
  defaults = {
    email  = "mocked@acme-identity.iam.gserviceaccount.com"
    member = "serviceAccount:mocked@acme-identity.iam.gserviceaccount.com"
    name   = "projects/acme-identity/serviceAccounts/mocked@acme-identity.iam.gserviceaccount.com"
  }
}

mock_resource "google_cloudfunctions2_function" {
  defaults = { state = "ACTIVE" }
}

mock_data "google_cloud_run_v2_service" {
  defaults = { invoker_iam_disabled = true }
}

mock_data "google_cloud_run_v2_service_iam_policy" {
  defaults = { policy_data = "{}" }
}
