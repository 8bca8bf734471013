mock_provider "time" {}

mock_provider "google" {}

# The job and the functions have accounts of their own, so that a role of the wrong account shows.
override_resource {
  target = google_service_account.job[0]
  values = {
    email  = "north-job@acme-identity.iam.gserviceaccount.com"
    member = "serviceAccount:north-job@acme-identity.iam.gserviceaccount.com"
  }
}
override_resource {
  target = google_service_account.function
  values = {
    email  = "function@acme-identity.iam.gserviceaccount.com"
    member = "serviceAccount:function@acme-identity.iam.gserviceaccount.com"
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
  master_key              = { secret = "north-master-key", version = "3" }
  build_service_account   = "projects/acme-identity/serviceAccounts/build@acme-identity.iam.gserviceaccount.com"
  docker_repository       = "projects/acme-identity/locations/europe-west1/repositories/identity-functions"
  kms_keys                = {}
  labels                  = { app = "identity" }
  public_access           = "allUsers"
  transfer_retention_days = 7
  audit_retention_days    = 400
  archives = {
    removeOtpEmail = { bucket = "sources", object = "removeOtpEmail/1.zip" }
    export         = { bucket = "sources", object = "export/2.zip" }
    import         = { bucket = "sources", object = "import/3.zip" }
  }
  job = { image = "europe-west1-docker.pkg.dev/acme-identity/identity-functions/identity@sha256:0", tasks = 4, cpu = 2 }
}

run "has_no_job_by_default" {
  command = plan
  variables {
    job = null
  }

  assert {
    condition = alltrue([for count in [
      length(google_cloud_run_v2_job.this),
      length(google_service_account.job),
      length(google_project_iam_member.job_database),
      length(google_storage_bucket_iam_member.job),
      length(google_secret_manager_secret_iam_member.job_master_key),
      length(time_sleep.job_roles),
    ] : count == 0])
    error_message = "Without a job, there must be no account with its rights."
  }
  assert {
    condition     = output.job_commands == null && !strcontains(google_logging_project_sink.audit.filter, "cloud_run_job")
    error_message = "Without a job, nothing may name one."
  }
}

run "runs_all_tasks_at_the_same_time_for_up_to_a_week" {
  assert {
    condition     = [for job in google_cloud_run_v2_job.this : [job.name, job.location, job.project]] == [["north-job", "europe-west1", "acme-identity"]]
    error_message = "The instance must have one job, in its region."
  }
  assert {
    condition     = google_cloud_run_v2_job.this[0].template[0].task_count == 4 && google_cloud_run_v2_job.this[0].template[0].parallelism == 4
    error_message = "Tasks wait for each other: if one began only after another, both would wait in vain."
  }
  assert {
    condition     = google_cloud_run_v2_job.this[0].template[0].template[0].timeout == "604800s" && google_cloud_run_v2_job.this[0].template[0].template[0].max_retries == 3
    error_message = "A task must have a week, and be started again after a failure."
  }
  assert {
    condition     = google_cloud_run_v2_job.this[0].deletion_protection == false
    error_message = "An instance, and a job that is no longer needed, must be removable."
  }
}

run "has_memory_and_half_of_it_as_heap" {
  assert {
    condition     = google_cloud_run_v2_job.this[0].template[0].template[0].containers[0].resources[0].limits == tomap({ cpu = "2", memory = "4096Mi" })
    error_message = "A task must have 4 GiB."
  }
  assert {
    condition     = [for variable in google_cloud_run_v2_job.this[0].template[0].template[0].containers[0].env : variable.value if variable.name == "NODE_OPTIONS"] == ["--max-semi-space-size=16 --max-old-space-size=2048"]
    error_message = "Half of the memory must be left to buffers and files."
  }
}

run "runs_the_given_image_and_changes_nothing_without_arguments" {
  assert {
    condition     = google_cloud_run_v2_job.this[0].template[0].template[0].containers[0].image == "europe-west1-docker.pkg.dev/acme-identity/identity-functions/identity@sha256:0"
    error_message = "The job must run the image of its entry."
  }
  assert {
    condition     = google_cloud_run_v2_job.this[0].template[0].template[0].containers[0].args == tolist(["--help"])
    error_message = "An execution without arguments must print how to use the command, and do nothing else."
  }
}

run "gets_the_master_key_from_secret_manager" {
  assert {
    condition = [
      for variable in google_cloud_run_v2_job.this[0].template[0].template[0].containers[0].env :
      [variable.value_source[0].secret_key_ref[0].secret, variable.value_source[0].secret_key_ref[0].version] if variable.name == "IDENTITY_MASTER_KEY"
    ] == [["north-master-key", "3"]]
    error_message = "The job must have the functions' version of the master key, and no copy of it."
  }
  assert {
    condition = [
      for grant in google_secret_manager_secret_iam_member.job_master_key : [grant.secret_id, grant.role, grant.member, grant.project]
    ] == [["north-master-key", "roles/secretmanager.secretAccessor", "serviceAccount:north-job@acme-identity.iam.gserviceaccount.com", "acme-identity"]]
    error_message = "The job's account must be able to read this key."
  }
}

run "is_created_when_its_roles_hold" {
  assert {
    condition     = [for wait in time_sleep.job_roles : [wait.create_duration, wait.triggers]] == [["120s", tomap({ account = google_service_account.job[0].unique_id, secret = "north-master-key" })]]
    error_message = "Cloud Run rejects a job that may not read its key yet: after a new account as after another key."
  }
}

run "runs_as_an_account_of_its_own" {
  assert {
    condition     = [for account in google_service_account.job : account.account_id] == ["north-job"]
    error_message = "The job must have an account of its own."
  }
  assert {
    condition     = google_cloud_run_v2_job.this[0].template[0].template[0].service_account == "north-job@acme-identity.iam.gserviceaccount.com"
    error_message = "The job must run as its own account, and not as a function's or the project's."
  }
}

run "reaches_its_own_database_only" {
  assert {
    condition = [for grant in google_project_iam_member.job_database : [grant.member, grant.role, grant.project]] == [
      ["serviceAccount:north-job@acme-identity.iam.gserviceaccount.com", "roles/datastore.user", "acme-identity"],
    ]
    error_message = "The job must read and write records, and do nothing else in the project."
  }
  assert {
    condition     = [for condition in google_project_iam_member.job_database[0].condition : condition.expression] == ["resource.name == \"projects/acme-identity/databases/north\""]
    error_message = "The role must be limited to this instance's database, as that of a function is."
  }
}

run "reads_and_creates_objects_of_its_own_buckets_only" {
  assert {
    condition = toset([for grant in google_storage_bucket_iam_member.job : "${grant.bucket} ${grant.role} ${grant.member}"]) == toset([
      "acme-identity-north-exports roles/storage.objectCreator serviceAccount:north-job@acme-identity.iam.gserviceaccount.com",
      "acme-identity-north-exports roles/storage.objectViewer serviceAccount:north-job@acme-identity.iam.gserviceaccount.com",
      "acme-identity-north-imports roles/storage.objectCreator serviceAccount:north-job@acme-identity.iam.gserviceaccount.com",
      "acme-identity-north-imports roles/storage.objectViewer serviceAccount:north-job@acme-identity.iam.gserviceaccount.com",
    ])
    error_message = "The job must read and create objects of this instance's buckets, and neither overwrite nor delete one."
  }
}

run "is_in_the_audit_trail" {
  assert {
    condition     = strcontains(google_logging_project_sink.audit.filter, " OR (resource.type = \"cloud_run_job\" AND resource.labels.job_name = \"north-job\"))")
    error_message = "The sink must take the labelled lines of the job."
  }
}

run "prints_the_commands_that_execute_it" {
  assert {
    condition = output.job_commands == {
      export = "gcloud run jobs execute north-job --region=europe-west1 --project=acme-identity --args='^@^export@firestore:acme-identity/north@--to@gs://acme-identity-north-exports/north.json@--parts@64@--with@passwords,otp,keys@--json'"
      import = "gcloud run jobs execute north-job --region=europe-west1 --project=acme-identity --args='^@^import@gs://acme-identity-north-imports/north.json@--to@firestore:acme-identity/north@--with@all@--json'"
    }
    error_message = "The commands must name the instance's own database and buckets, and keep arguments with commas whole."
  }
}

run "uses_a_restored_database" {
  variables {
    database = "north-restored"
  }

  assert {
    condition     = endswith(google_project_iam_member.job_database[0].condition[0].expression, "/databases/north-restored\"") && strcontains(output.job_commands.import, "firestore:acme-identity/north-restored@")
    error_message = "Role and commands must name the restored database."
  }
}

run "has_the_labels_and_the_customers_key" {
  variables {
    kms_keys = { region = "projects/keys/locations/europe-west1/keyRings/k/cryptoKeys/r" }
  }

  assert {
    condition     = google_cloud_run_v2_job.this[0].labels == tomap({ app = "identity", identity-instance = "north" })
    error_message = "Costs must be attributable to an instance."
  }
  assert {
    condition     = google_cloud_run_v2_job.this[0].template[0].template[0].encryption_key == var.kms_keys.region
    error_message = "The image must be encrypted with the customer's key."
  }
}
