/** Writes a test of Terraform that applies settings: what is assigned in them is assigned in a test alike. The archives are the tests' own. */
export function appliedBy(assignments: string): string {
  return `
mock_provider "time" {}

mock_provider "google" {
  mock_resource "google_compute_global_address" {
    defaults = { address = "203.0.113.7" }
  }
  mock_resource "google_certificate_manager_dns_authorization" {
    defaults = {
      dns_resource_record = [{ name = "_acme-challenge.example.com.", type = "CNAME", data = "1.authorize.certificatemanager.goog." }]
    }
  }
  mock_resource "google_service_account" {
    defaults = {
      email  = "mock@acme-identity.iam.gserviceaccount.com"
      member = "serviceAccount:mock@acme-identity.iam.gserviceaccount.com"
    }
  }
}

variables {
${assignments}
  dist_directory = "tests/archives"
}

run "applies" {
  assert {
    condition     = output.base_urls == { for id, instance in var.instances : id => "https://\${instance.domain}" }
    error_message = "Each instance must be served at its domain."
  }
}
`;
}
