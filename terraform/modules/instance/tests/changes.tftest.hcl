# Changes that would drop the database from Terraform's state are rejected by the plan.

mock_provider "time" {}

mock_provider "google" {
  mock_resource "google_service_account" {
    defaults = {
      email  = "north@acme-identity.iam.gserviceaccount.com"
      member = "serviceAccount:north@acme-identity.iam.gserviceaccount.com"
    }
  }
}

variables {
  id                      = "north"
  database                = "north"
  project_id              = "acme-identity"
  region                  = "europe-west1"
  location                = "eur3"
  domain                  = "north.example.com"
  exporters               = []
  importers               = []
  cors_origins            = []
  log_level               = "info"
  min_instances           = 0
  master_key              = { secret = "north-master-key", version = "1" }
  build_service_account   = "projects/acme-identity/serviceAccounts/build@acme-identity.iam.gserviceaccount.com"
  docker_repository       = "projects/acme-identity/locations/europe-west1/repositories/identity-functions"
  kms_keys                = { database = "projects/keys/locations/europe/keyRings/k/cryptoKeys/d" }
  labels                  = {}
  public_access           = "allUsers"
  transfer_retention_days = 7
  audit_retention_days    = 400
  archives = {
    removeOtpEmail = { bucket = "sources", object = "removeOtpEmail/1.zip" }
    export         = { bucket = "sources", object = "export/2.zip" }
    import         = { bucket = "sources", object = "import/3.zip" }
  }
}

run "creates_the_database" {
  assert {
    condition     = google_firestore_database.this.name == "north"
    error_message = "The first apply must create the database."
  }
}

run "rejects_another_database" {
  command = plan
  variables {
    database = "north-restored"
  }
  expect_failures = [google_firestore_database.this]
}

run "rejects_another_location" {
  command = plan
  variables {
    location = "europe-west1"
  }
  expect_failures = [google_firestore_database.this]
}

run "rejects_another_key_of_the_database" {
  command = plan
  variables {
    kms_keys = { database = "projects/keys/locations/europe/keyRings/k/cryptoKeys/other" }
  }
  expect_failures = [google_firestore_database.this]
}

run "rejects_a_database_without_its_key" {
  command = plan
  variables {
    kms_keys = {}
  }
  expect_failures = [google_firestore_database.this]
}

run "accepts_the_first_values_again" {
  command = plan

  assert {
    condition     = google_firestore_database.this.location_id == "eur3"
    error_message = "Setting a value back must be enough."
  }
}
