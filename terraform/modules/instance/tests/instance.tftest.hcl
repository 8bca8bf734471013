mock_provider "time" {}

mock_provider "google" {
  source = "../../tests/mocks"
}

# Each function has an account of its own, so that a role of the wrong account shows.
override_resource {
  target = google_service_account.function["removeOtpEmail"]
  values = {
    email  = "north-otp-email@acme-identity.iam.gserviceaccount.com"
    member = "serviceAccount:north-otp-email@acme-identity.iam.gserviceaccount.com"
    name   = "projects/acme-identity/serviceAccounts/north-otp-email@acme-identity.iam.gserviceaccount.com"
  }
}
override_resource {
  target = google_service_account.function["export"]
  values = {
    email  = "north-export@acme-identity.iam.gserviceaccount.com"
    member = "serviceAccount:north-export@acme-identity.iam.gserviceaccount.com"
    name   = "projects/acme-identity/serviceAccounts/north-export@acme-identity.iam.gserviceaccount.com"
  }
}
override_resource {
  target = google_service_account.function["import"]
  values = {
    email  = "north-import@acme-identity.iam.gserviceaccount.com"
    member = "serviceAccount:north-import@acme-identity.iam.gserviceaccount.com"
    name   = "projects/acme-identity/serviceAccounts/north-import@acme-identity.iam.gserviceaccount.com"
  }
}

variables {
  id                    = "north"
  database              = "north"
  project_id            = "acme-identity"
  region                = "europe-west1"
  location              = "eur3"
  domain                = "north.example.com"
  exporters             = ["serviceAccount:exporter@acme-identity.iam.gserviceaccount.com"]
  importers             = ["serviceAccount:importer@acme-identity.iam.gserviceaccount.com"]
  cors_origins          = ["https://console.example.com"]
  min_instances         = 1
  max_instances         = 20
  memory                = { import = 2048 }
  backup_days           = 7
  master_key            = { secret = "north-master-key", version = "3" }
  build_service_account = "projects/acme-identity/serviceAccounts/build@acme-identity.iam.gserviceaccount.com"
  docker_repository     = "projects/acme-identity/locations/europe-west1/repositories/identity-functions"
  kms_keys              = {}
  labels                = { app = "identity" }
  public_access         = "allUsers"
  audit_retention_days  = 400
  archives = {
    removeOtpEmail = { bucket = "sources", object = "removeOtpEmail/1.zip" }
    export         = { bucket = "sources", object = "export/2.zip" }
    import         = { bucket = "sources", object = "import/3.zip" }
  }
}

run "gives_the_master_key_to_exports_and_imports_only" {
  assert {
    condition = {
      for name, function in google_cloudfunctions2_function.this : name => join(",", function.service_config[0].secret_environment_variables[*].version)
    } == { removeOtpEmail = "", export = "3", import = "3" }
    error_message = "Exports and imports must get the given version of the master key, and the removal none."
  }
  assert {
    condition = { for key, grant in google_secret_manager_secret_iam_member.master_key : key => [grant.member, grant.secret_id, grant.project, grant.role] } == {
      export = ["serviceAccount:north-export@acme-identity.iam.gserviceaccount.com", "north-master-key", "acme-identity", "roles/secretmanager.secretAccessor"]
      import = ["serviceAccount:north-import@acme-identity.iam.gserviceaccount.com", "north-master-key", "acme-identity", "roles/secretmanager.secretAccessor"]
    }
    error_message = "The accounts of exports and imports, and no others, may read the key."
  }
}

run "gives_each_function_an_account_with_one_role_on_one_database" {
  assert {
    condition = { for key, grant in google_project_iam_member.database : key => [grant.member, grant.role, grant.project] } == {
      removeOtpEmail = ["serviceAccount:north-otp-email@acme-identity.iam.gserviceaccount.com", "roles/datastore.user", "acme-identity"]
      export         = ["serviceAccount:north-export@acme-identity.iam.gserviceaccount.com", "roles/datastore.viewer", "acme-identity"]
      import         = ["serviceAccount:north-import@acme-identity.iam.gserviceaccount.com", "roles/datastore.user", "acme-identity"]
    }
    error_message = "Export must only read, and no function's account may have another role."
  }
  assert {
    condition = alltrue([
      for grant in google_project_iam_member.database :
      [for condition in grant.condition : condition.expression] == ["resource.name == \"projects/acme-identity/databases/north\""]
    ])
    error_message = "Each role must be limited to this instance's database."
  }
}

run "gives_the_bucket_for_transfers_to_exports_and_imports_only" {
  assert {
    condition = { for key, grant in google_storage_bucket_iam_member.transfers : key => [grant.member, grant.bucket, grant.role] } == {
      export = ["serviceAccount:north-export@acme-identity.iam.gserviceaccount.com", "acme-identity-north-transfers", "roles/storage.objectUser"]
      import = ["serviceAccount:north-import@acme-identity.iam.gserviceaccount.com", "acme-identity-north-transfers", "roles/storage.objectUser"]
    }
    error_message = "The accounts of exports and imports, and no exporters and importers, may use the bucket for transfers."
  }
  assert {
    condition     = [for grant in [google_service_account_iam_member.signer] : [grant.service_account_id, grant.member, grant.role]] == [["projects/acme-identity/serviceAccounts/north-export@acme-identity.iam.gserviceaccount.com", "serviceAccount:north-export@acme-identity.iam.gserviceaccount.com", "roles/iam.serviceAccountTokenCreator"]]
    error_message = "The account of exports must be able to sign for itself, and for no other account."
  }
}

run "admits_public_requests_through_the_load_balancer_only" {
  command = plan

  assert {
    condition     = alltrue([for function in google_cloudfunctions2_function.this : function.service_config[0].ingress_settings == "ALLOW_INTERNAL_AND_GCLB"])
    error_message = "Public requests must not bypass the load balancer."
  }
  assert {
    condition = {
      for key, grant in google_cloud_run_v2_service_iam_member.invoker : key => [grant.name, grant.role, grant.member]
      } == {
      removeOtpEmail = ["north-remove-otp-email", "roles/run.invoker", "allUsers"]
      export         = ["north-export", "roles/run.invoker", "allUsers"]
      import         = ["north-import", "roles/run.invoker", "allUsers"]
    }
    error_message = "The load balancer sends no identity, so everyone may invoke a service, and do nothing else with it."
  }
}

run "keeps_account_ids_within_thirty_characters" {
  command = plan
  variables {
    id = "an-instance-of-20-ch"
  }

  assert {
    condition     = alltrue([for account in google_service_account.function : length(account.account_id) <= 30])
    error_message = "An id of 20 characters, the longest, must leave room for the function's name."
  }
}
