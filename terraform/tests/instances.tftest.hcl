# The root module with two instances. Nothing is created: the provider is a mock with its real schema.

mock_provider "google" {
  mock_resource "google_service_account" {
    defaults = {
      id     = "projects/acme-identity/serviceAccounts/mock@acme-identity.iam.gserviceaccount.com"
      email  = "mock@acme-identity.iam.gserviceaccount.com"
      member = "serviceAccount:mock@acme-identity.iam.gserviceaccount.com"
    }
  }
  mock_resource "google_compute_global_address" {
    defaults = { address = "203.0.113.7" }
  }
  mock_resource "google_certificate_manager_dns_authorization" {
    defaults = {
      dns_resource_record = [{ name = "_acme-challenge.example.com.", type = "CNAME", data = "1.authorize.certificatemanager.goog." }]
    }
  }
}

variables {
  project_id     = "acme-identity"
  region         = "europe-west1"
  dist_directory = "tests/archives"
  instances = {
    north = { domain = "north.example.com" }
    south = { domain = "south.example.com", location = "eur3" }
  }
}

run "outputs_the_next_steps" {
  assert {
    condition     = output.base_urls == { north = "https://north.example.com", south = "https://south.example.com" }
    error_message = "Each instance must have its own base URL."
  }
  assert {
    condition     = output.next_commands.north == "npm run -s identity -- init --firestore acme-identity/north --token-file north.pat"
    error_message = "The next command must create the first token in the instance's own database."
  }
  assert {
    condition = tolist(output.dns_records.south) == tolist([
      { name = "_acme-challenge.example.com.", type = "CNAME", data = "1.authorize.certificatemanager.goog." },
      { name = "south.example.com.", type = "A", data = "203.0.113.7" },
    ])
    error_message = "The DNS records must be the certificate's and the load balancer's."
  }
  assert {
    condition     = output.transfer_buckets.south == { exports = "acme-identity-south-exports", imports = "acme-identity-south-imports" }
    error_message = "Each instance must have its own buckets."
  }
}

run "uploads_each_archive_under_the_hash_of_its_content" {
  command = plan

  assert {
    condition     = toset(keys(google_storage_bucket_object.source)) == toset(["removeOtpEmail", "export", "import"])
    error_message = "Each function must have an archive."
  }
  assert {
    condition = alltrue([
      for name, archive in google_storage_bucket_object.source :
      archive.name == "${name}/${filesha256("tests/archives/${name}.zip")}.zip" && archive.source == "tests/archives/${name}.zip"
    ])
    error_message = "A changed archive must be a new object, an unchanged archive the same."
  }
}

run "keeps_the_sources_private" {
  command = plan

  assert {
    condition     = google_storage_bucket.source.uniform_bucket_level_access && google_storage_bucket.source.public_access_prevention == "enforced"
    error_message = "Nobody outside the project may read the sources."
  }
  assert {
    condition     = google_storage_bucket.source.force_destroy != true
    error_message = "No bucket is deleted with its content."
  }
}

run "builds_with_the_least_privileged_account" {
  command = plan

  assert {
    condition     = google_project_iam_member.build.role == "roles/cloudbuild.builds.builder"
    error_message = "The build's account must have the builder's role only."
  }
}

run "disables_no_service" {
  command = plan

  assert {
    condition     = alltrue([for service in google_project_service.this : service.disable_on_destroy == false])
    error_message = "The project may use the services for other purposes."
  }
}

run "creates_an_instance_per_entry" {
  variables {
    instances = {
      north = { domain = "north.example.com" }
      south = { domain = "south.example.com", location = "eur3" }
      east  = { domain = "east.example.com" }
    }
  }

  assert {
    condition     = output.base_urls.east == "https://east.example.com" && length(output.dns_records.east) == 2 && length(output.next_commands) == 3
    error_message = "The new instance must have the same outputs as the others."
  }
}

run "points_an_instance_at_a_restored_database" {
  variables {
    instances = { north = { domain = "north.example.com", database = "north-restored" } }
  }

  assert {
    condition     = strcontains(output.next_commands.north, "--firestore acme-identity/north-restored ")
    error_message = "The command must name the restored database."
  }
}
