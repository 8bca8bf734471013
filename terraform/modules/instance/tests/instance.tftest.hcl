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

run "protects_the_database" {
  command = plan

  assert {
    condition     = google_firestore_database.this.name == "north" && google_firestore_database.this.location_id == "eur3" && google_firestore_database.this.type == "FIRESTORE_NATIVE"
    error_message = "The instance must have its own database, in the given location."
  }
  assert {
    condition     = google_firestore_database.this.delete_protection_state == "DELETE_PROTECTION_ENABLED"
    error_message = "The database must be protected from deletion."
  }
  assert {
    condition     = google_firestore_database.this.point_in_time_recovery_enablement == "POINT_IN_TIME_RECOVERY_ENABLED"
    error_message = "Point-in-time recovery must be on: exports read from one moment too."
  }
  assert {
    condition     = google_firestore_database.this.concurrency_mode == "PESSIMISTIC"
    error_message = "Transactions must lock what they read."
  }
  assert {
    condition     = google_firestore_backup_schedule.daily.retention == "604800s" && length(google_firestore_backup_schedule.daily.daily_recurrence) == 1 && google_firestore_backup_schedule.daily.database == "north"
    error_message = "There must be a daily backup, kept for a week."
  }
}

run "keeps_the_audit_trail" {
  command = plan

  override_resource {
    target          = google_logging_project_bucket_config.audit
    override_during = plan
    values          = { id = "projects/acme-identity/locations/europe-west1/buckets/north-audit" }
  }

  assert {
    condition     = google_logging_project_bucket_config.audit.bucket_id == "north-audit" && google_logging_project_bucket_config.audit.retention_days == 400 && google_logging_project_bucket_config.audit.location == "europe-west1"
    error_message = "The instance must have a log bucket of its own for the audit trail, with its own retention, in the region."
  }
  assert {
    condition     = google_logging_project_bucket_config.audit.deletion_policy == "ABANDON"
    error_message = "Removing an instance must keep its audit trail."
  }
  assert {
    condition     = google_logging_project_sink.audit.destination == "logging.googleapis.com/projects/acme-identity/locations/europe-west1/buckets/north-audit" && google_logging_project_sink.audit.unique_writer_identity
    error_message = "The sink must lead to the instance's log bucket."
  }
  assert {
    condition     = startswith(google_logging_project_sink.audit.filter, "labels.log_type = \"audit\" AND (") && alltrue([for name in ["north-remove-otp-email", "north-export", "north-import"] : strcontains(google_logging_project_sink.audit.filter, "(resource.type = \"cloud_run_revision\" AND resource.labels.service_name = \"${name}\")")])
    error_message = "The sink must take the labelled lines of all three functions, and of no other service."
  }
}

run "gives_the_master_key_to_exports_and_imports_only" {
  assert {
    condition = alltrue([
      for name in ["export", "import"] : alltrue([
        length(google_cloudfunctions2_function.this[name].service_config[0].secret_environment_variables) == 1,
        google_cloudfunctions2_function.this[name].service_config[0].secret_environment_variables[0].key == "IDENTITY_MASTER_KEY",
        google_cloudfunctions2_function.this[name].service_config[0].secret_environment_variables[0].project_id == "acme-identity",
        google_cloudfunctions2_function.this[name].service_config[0].secret_environment_variables[0].secret == "north-master-key",
        google_cloudfunctions2_function.this[name].service_config[0].secret_environment_variables[0].version == "3",
      ])
    ])
    error_message = "Exports and imports must get the given version of the master key."
  }
  assert {
    condition     = length(google_cloudfunctions2_function.this["removeOtpEmail"].service_config[0].secret_environment_variables) == 0
    error_message = "The removal reads no secret, so it must not get the master key."
  }
  assert {
    condition = { for key, grant in google_secret_manager_secret_iam_member.master_key : key => [grant.member, grant.secret_id, grant.project, grant.role] } == {
      export = ["serviceAccount:north-export@acme-identity.iam.gserviceaccount.com", "north-master-key", "acme-identity", "roles/secretmanager.secretAccessor"]
      import = ["serviceAccount:north-import@acme-identity.iam.gserviceaccount.com", "north-master-key", "acme-identity", "roles/secretmanager.secretAccessor"]
    }
    error_message = "The accounts of exports and imports, and no others, may read the key."
  }
}

run "uses_a_restored_database_throughout" {
  command   = plan
  state_key = "restored"
  variables {
    database = "north-restored"
  }

  assert {
    condition = alltrue([
      google_firestore_database.this.name == "north-restored",
      google_firestore_backup_schedule.daily.database == "north-restored",
      google_firestore_field.not_indexed.database == "north-restored",
      google_firebaserules_release.this.name == "cloud.firestore/north-restored",
      alltrue([for field in google_firestore_field.partition : field.database == "north-restored"]),
      alltrue([for function in google_cloudfunctions2_function.this : function.service_config[0].environment_variables.FIRESTORE_DATABASE == "north-restored"]),
      alltrue([for grant in google_project_iam_member.database : endswith(grant.condition[0].expression, "/databases/north-restored\"")]),
    ])
    error_message = "Backups, indexes, rules, functions and roles must all name the restored database."
  }
  assert {
    condition     = google_cloudfunctions2_function.this["export"].name == "north-export" && google_storage_bucket.transfer["exports"].name == "acme-identity-north-exports"
    error_message = "All other names must stay the same."
  }
}

run "creates_a_database_with_a_key" {
  state_key = "changes"
  variables {
    kms_keys = { database = "projects/keys/locations/europe/keyRings/k/cryptoKeys/d" }
  }

  assert {
    condition     = google_firestore_database.this.name == "north"
    error_message = "The first apply must create the database."
  }
}

run "rejects_another_database" {
  command   = plan
  state_key = "changes"
  variables {
    database = "north-restored"
    kms_keys = { database = "projects/keys/locations/europe/keyRings/k/cryptoKeys/d" }
  }
  expect_failures = [google_firestore_database.this]
}

run "rejects_another_location_of_the_database" {
  command   = plan
  state_key = "changes"
  variables {
    location = "europe-west1"
    kms_keys = { database = "projects/keys/locations/europe/keyRings/k/cryptoKeys/d" }
  }
  expect_failures = [google_firestore_database.this]
}

run "rejects_another_key_of_the_database" {
  command   = plan
  state_key = "changes"
  variables {
    kms_keys = { database = "projects/keys/locations/europe/keyRings/k/cryptoKeys/other" }
  }
  expect_failures = [google_firestore_database.this]
}

run "rejects_a_database_without_its_key" {
  command         = plan
  state_key       = "changes"
  expect_failures = [google_firestore_database.this]
}

run "accepts_the_first_values_again" {
  command   = plan
  state_key = "changes"
  variables {
    kms_keys = { database = "projects/keys/locations/europe/keyRings/k/cryptoKeys/d" }
  }

  assert {
    condition     = google_firestore_database.this.location_id == "eur3"
    error_message = "Setting a value back must be enough."
  }
}

run "keeps_the_database_when_the_instance_is_removed" {
  command = plan

  assert {
    condition = alltrue([for policy in concat([
      google_firestore_database.this.deletion_policy,
      google_firestore_backup_schedule.daily.deletion_policy,
      google_firestore_field.not_indexed.deletion_policy,
    ], values(google_firestore_field.partition)[*].deletion_policy) : policy == "ABANDON"])
    error_message = "Removing an instance from the map must keep its data, backups and indexes."
  }
}

run "indexes_one_field_and_nothing_else" {
  command = plan

  assert {
    condition = alltrue([
      google_firestore_field.not_indexed.collection == "__default__",
      google_firestore_field.not_indexed.field == "*",
      length(google_firestore_field.not_indexed.index_config) == 1,
      length(google_firestore_field.not_indexed.index_config[0].indexes) == 0,
      google_firestore_field.not_indexed.database == "north",
    ])
    error_message = "No field may be indexed by default."
  }
  assert {
    condition     = toset(keys(google_firestore_field.partition)) == toset(jsondecode(file("collections.json")))
    error_message = "Every collection must have an index of its partition."
  }
  assert {
    condition = alltrue([
      for collection, field in google_firestore_field.partition :
      field.collection == collection && field.field == "partition" && field.database == "north" &&
      [for index in field.index_config[0].indexes : [index.order, index.query_scope]] == [["ASCENDING", "COLLECTION"]]
    ])
    error_message = "The field partition must have one ascending index per collection."
  }
}

run "rejects_clients_by_the_projects_rules" {
  assert {
    condition     = google_firebaserules_ruleset.this.source[0].files[0].content == file("../../../firestore.rules")
    error_message = "The rules must be those that the emulator's tests use."
  }
  assert {
    condition     = google_firebaserules_release.this.name == "cloud.firestore/north" && google_firebaserules_release.this.ruleset_name == google_firebaserules_ruleset.this.name
    error_message = "The rules must be released for this instance's database."
  }
}

run "keeps_files_private_and_for_days_only" {
  command = plan

  assert {
    condition     = { for kind, bucket in google_storage_bucket.transfer : kind => bucket.name } == { exports = "acme-identity-north-exports", imports = "acme-identity-north-imports", transfers = "acme-identity-north-transfers" }
    error_message = "There must be a bucket for exports, one for imports and one for transfers."
  }
  assert {
    condition = alltrue([
      for bucket in google_storage_bucket.transfer :
      bucket.uniform_bucket_level_access && bucket.public_access_prevention == "enforced"
    ])
    error_message = "Neither object ACLs nor public access may grant anything."
  }
  assert {
    condition     = alltrue([for bucket in google_storage_bucket.transfer : bucket.force_destroy == false])
    error_message = "Removing the instance must not delete a bucket that holds files."
  }
  assert {
    condition = alltrue([
      for kind, bucket in google_storage_bucket.transfer :
      [for rule in bucket.lifecycle_rule : [one(rule.action).type, one(rule.condition).age]] ==
      [["Delete", kind == "transfers" ? 1 : 7], ["AbortIncompleteMultipartUpload", 1]]
    ])
    error_message = "Objects must be deleted after seven days, and after one day in the bucket for transfers."
  }
  assert {
    condition = alltrue([
      for bucket in google_storage_bucket.transfer :
      [for policy in bucket.soft_delete_policy : policy.retention_duration_seconds] == [0] && length(bucket.versioning) == 0
    ])
    error_message = "A deleted object must not be recoverable."
  }
}

run "grants_each_account_one_bucket" {
  command = plan

  assert {
    condition     = { for member, grant in google_storage_bucket_iam_member.exporter : member => [grant.bucket, grant.role] } == { "serviceAccount:exporter@acme-identity.iam.gserviceaccount.com" = ["acme-identity-north-exports", "roles/storage.objectCreator"] }
    error_message = "An exporter may only create objects in the bucket for exports."
  }
  assert {
    condition     = { for member, grant in google_storage_bucket_iam_member.importer : member => [grant.bucket, grant.role] } == { "serviceAccount:importer@acme-identity.iam.gserviceaccount.com" = ["acme-identity-north-imports", "roles/storage.objectViewer"] }
    error_message = "An importer may only read objects of the bucket for imports."
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

run "lets_pages_of_configured_origins_read_transfers_only" {
  command = plan

  assert {
    condition = { for kind, bucket in google_storage_bucket.transfer : kind => [for cors in bucket.cors : [cors.origin, cors.method, cors.response_header]] } == {
      exports   = []
      imports   = []
      transfers = [[tolist(["*"]), tolist(["GET", "PUT"]), tolist(["Content-Range", "Content-Type", "Range", "X-Request-Id"])]]
    }
    error_message = "Only the bucket for transfers may have CORS."
  }
}

run "lets_no_page_read_transfers_by_default" {
  command   = plan
  state_key = "no_origins"
  variables {
    cors_origins = []
  }

  assert {
    condition     = alltrue([for bucket in google_storage_bucket.transfer : length(bucket.cors) == 0])
    error_message = "Without cors_origins, no bucket may have CORS."
  }
}

run "gives_each_function_an_account_with_one_role_on_one_database" {
  assert {
    condition     = { for key, account in google_service_account.function : key => account.account_id } == { removeOtpEmail = "north-otp-email", export = "north-export", import = "north-import" }
    error_message = "Each function must have its own account."
  }
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

run "starts_functions_after_their_roles_take_effect" {
  assert {
    condition = time_sleep.roles.create_duration == "120s" && time_sleep.roles.triggers.roles == join(" ", concat(
      values(google_project_iam_member.database)[*].id,
      values(google_secret_manager_secret_iam_member.master_key)[*].id,
      values(google_storage_bucket_iam_member.transfers)[*].id,
      [google_service_account_iam_member.signer.id],
    ))
    error_message = "Every role of the functions must have taken effect, again after one is replaced."
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

run "runs_each_function_with_the_documented_settings" {
  command = plan

  assert {
    condition = {
      for key, function in google_cloudfunctions2_function.this : key => [
        function.name,
        function.service_config[0].available_memory,
        function.service_config[0].timeout_seconds,
        function.service_config[0].max_instance_request_concurrency,
        function.service_config[0].min_instance_count,
        function.service_config[0].max_instance_count,
        function.service_config[0].environment_variables.NODE_OPTIONS,
      ]
      } == {
      removeOtpEmail = ["north-remove-otp-email", "512Mi", 30, 80, 1, 20, "--max-semi-space-size=8 --max-old-space-size=256"]
      export         = ["north-export", "1024Mi", 3600, 1, 0, 20, "--max-semi-space-size=8 --max-old-space-size=512"]
      import         = ["north-import", "1024Mi", 3600, 1, 0, 20, "--max-semi-space-size=8 --max-old-space-size=512"]
    }
    error_message = "Memory, timeout, concurrency, processes and heap must be those that docs/operations-google-cloud.md describes."
  }
  assert {
    condition     = alltrue([for function in google_cloudfunctions2_function.this : function.service_config[0].available_cpu == "1"])
    error_message = "Concurrent requests need a whole CPU."
  }
  assert {
    condition     = alltrue([for function in local.functions : function.heap * 2 <= function.memory])
    error_message = "Half of the memory must remain for buffers and temporary files."
  }
  assert {
    condition = alltrue([
      for key, function in google_cloudfunctions2_function.this :
      function.build_config[0].runtime == "nodejs24" && function.build_config[0].entry_point == key && length(function.build_config[0].automatic_update_policy) == 1
    ])
    error_message = "Each function must run on an automatically updated Node 24, with its name in the code as entry point."
  }
  assert {
    condition = alltrue([
      for key, function in google_cloudfunctions2_function.this :
      function.build_config[0].source[0].storage_source[0].object == var.archives[key].object && function.build_config[0].source[0].storage_source[0].bucket == "sources"
    ])
    error_message = "Each function must be built from its own archive."
  }
  assert {
    condition     = output.archives == { for key, archive in var.archives : key => archive.object }
    error_message = "Each build must have its archive's name in a variable that the provider reads back."
  }
}

run "configures_the_functions" {
  command = plan

  assert {
    condition = alltrue([
      for function in google_cloudfunctions2_function.this : {
        for name, value in function.service_config[0].environment_variables : name => value if name != "NODE_OPTIONS"
        } == {
        FIRESTORE_PROJECT  = "acme-identity"
        FIRESTORE_DATABASE = "north"
        TRANSFER_BUCKET    = "acme-identity-north-transfers"
        CORS_ORIGINS       = "https://console.example.com"
        MAX_RESPONSE_BYTES = "10000000"
        MAX_TIMEOUT        = "59m"
        OPENAPI_SCOPE      = "instance"
        SHUTDOWN_SECONDS   = "9"
      }
    ])
    error_message = "Every function must use this instance's database, and end before the platform ends it."
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

run "runs_each_function_as_its_own_account" {
  assert {
    condition = { for key, function in google_cloudfunctions2_function.this : key => function.service_config[0].service_account_email } == {
      removeOtpEmail = "north-otp-email@acme-identity.iam.gserviceaccount.com"
      export         = "north-export@acme-identity.iam.gserviceaccount.com"
      import         = "north-import@acme-identity.iam.gserviceaccount.com"
    }
    error_message = "A function must run as its own account, and not as another function's or the project's."
  }
  assert {
    condition     = alltrue([for function in google_cloudfunctions2_function.this : function.build_config[0].service_account == var.build_service_account && function.build_config[0].docker_repository == var.docker_repository])
    error_message = "A build must use the build's account and repository."
  }
  assert {
    condition     = alltrue([for function in google_cloudfunctions2_function.this : function.service_config[0].all_traffic_on_latest_revision])
    error_message = "No request may reach an older revision."
  }
}

run "omits_an_empty_list_of_origins" {
  command = plan
  variables {
    cors_origins = []
  }

  assert {
    condition     = alltrue([for function in google_cloudfunctions2_function.this : !contains(keys(function.service_config[0].environment_variables), "CORS_ORIGINS")])
    error_message = "An empty variable would differ at every plan."
  }
}

run "checks_the_domain_the_function_and_the_database_from_outside" {
  command = plan

  assert {
    condition     = google_monitoring_uptime_check_config.this.monitored_resource[0].labels == tomap({ project_id = "acme-identity", host = "north.example.com" })
    error_message = "The check must use the instance's domain."
  }
  assert {
    condition = [
      for check in google_monitoring_uptime_check_config.this.http_check :
      [check.request_method, check.path, check.port, check.use_ssl, check.validate_ssl, check.accepted_response_status_codes[0].status_value]
    ] == [["GET", "/ready", 443, true, true, 200]]
    error_message = "The check must read the database through TLS, and verify the certificate."
  }
  assert {
    condition     = [for matcher in google_monitoring_uptime_check_config.this.content_matchers : [matcher.matcher, matcher.content]] == [["CONTAINS_STRING", "\"status\":\"ready\""]]
    error_message = "Another server's 200 must not pass."
  }
  assert {
    condition     = google_monitoring_uptime_check_config.this.period == "300s" && google_monitoring_uptime_check_config.this.timeout == "30s"
    error_message = "The check must run every five minutes."
  }
}

run "labels_every_resource_that_accepts_labels" {
  command = plan

  assert {
    condition = alltrue([for labels in concat(
      values(google_cloudfunctions2_function.this)[*].labels,
      values(google_storage_bucket.transfer)[*].labels,
      [google_monitoring_uptime_check_config.this.user_labels],
    ) : labels == tomap({ app = "identity", identity-instance = "north" })])
    error_message = "Costs and resources must be attributable to an instance."
  }
}

run "uses_googles_keys_by_default" {
  command = plan

  assert {
    condition = alltrue([
      length(google_firestore_database.this.cmek_config) == 0,
      alltrue([for bucket in google_storage_bucket.transfer : length(bucket.encryption) == 0]),
    ])
    error_message = "Without a key of the customer, nothing may name one."
  }
}

run "uses_the_customers_keys" {
  command   = plan
  state_key = "keys"
  variables {
    kms_keys = { database = "projects/keys/locations/europe/keyRings/k/cryptoKeys/d", region = "projects/keys/locations/europe-west1/keyRings/k/cryptoKeys/r" }
  }

  assert {
    condition     = [for config in google_firestore_database.this.cmek_config : config.kms_key_name] == ["projects/keys/locations/europe/keyRings/k/cryptoKeys/d"]
    error_message = "The database must have its own key."
  }
  assert {
    condition = alltrue(concat(
      [for bucket in google_storage_bucket.transfer : [for encryption in bucket.encryption : encryption.default_kms_key_name] == ["projects/keys/locations/europe-west1/keyRings/k/cryptoKeys/r"]],
      [for function in google_cloudfunctions2_function.this : function.kms_key_name == "projects/keys/locations/europe-west1/keyRings/k/cryptoKeys/r"],
    ))
    error_message = "Functions and buckets must have the region's key."
  }
}

run "grants_no_invoker_role_if_the_check_is_disabled" {
  variables {
    public_access = "unchecked"
  }

  assert {
    condition     = length(google_cloud_run_v2_service_iam_member.invoker) == 0
    error_message = "An organisation that forbids allUsers rejects the grant."
  }
}

# Whoever changes to "unchecked" runs the commands before the apply that deletes the grants.
run "outputs_the_commands_that_disable_the_check_in_any_case" {
  assert {
    condition     = length(output.invoker_commands) == 3 && contains(output.invoker_commands, "gcloud run services update north-export --no-invoker-iam-check --region=europe-west1 --project=acme-identity")
    error_message = "There must be a command for each function."
  }
}
