# Changes that would replace every instance are rejected by the plan.

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
  project_id     = "acme-identity"
  region         = "europe-west1"
  dist_directory = "tests/archives"
  alert_email    = "operations@example.com"
  instances      = { north = { domain = "north.example.com", location = "eur3" } }
}

run "creates_the_instance" {
  assert {
    condition     = output.base_urls.north == "https://north.example.com"
    error_message = "The first apply must create the instance."
  }
}

run "rejects_another_region" {
  command = plan
  variables {
    region = "europe-west4"
  }
  expect_failures = [terraform_data.place]
}

run "rejects_another_project" {
  command = plan
  variables {
    project_id = "acme-other"
  }
  expect_failures = [terraform_data.place]
}
