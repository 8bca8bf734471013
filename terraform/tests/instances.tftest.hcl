# The root module with two instances. Nothing is created: the provider is a mock with its real schema.

mock_provider "time" {}

mock_provider "google" {
  source = "./tests/mocks"
}

override_resource {
  target = google_storage_bucket.source
  values = { project_number = 123456789012 }
}

# Each account has a name of its own, so that a role of the wrong account shows.
override_resource {
  target = google_service_account.build
  values = {
    id     = "projects/acme-identity/serviceAccounts/identity-build@acme-identity.iam.gserviceaccount.com"
    member = "serviceAccount:identity-build@acme-identity.iam.gserviceaccount.com"
  }
}

variables {
  project_id     = "acme-identity"
  region         = "europe-west1"
  dist_directory = "tests/archives"
  alert_email    = "operations@example.com"
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
      { name = "south.example.com.", type = "AAAA", data = "203.0.113.7" },
    ])
    error_message = "The DNS records must be the certificate's and the load balancer's."
  }
  assert {
    condition     = output.transfer_buckets.south == { exports = "acme-identity-south-exports", imports = "acme-identity-south-imports", transfers = "acme-identity-south-transfers" }
    error_message = "Each instance must have its own buckets."
  }
  assert {
    condition     = length(output.redeploy_commands) == 0
    error_message = "An active function must not be replaced."
  }
}

run "rejects_another_region" {
  command = plan
  variables {
    region    = "europe-west4"
    instances = { south = { domain = "south.example.com", location = "eur3" } }
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

run "rejects_another_id_of_an_instance" {
  command = plan
  variables {
    instances = {
      nord  = { domain = "north.example.com" }
      south = { domain = "south.example.com", location = "eur3" }
    }
  }
  expect_failures = [output.base_urls]
}

run "rejects_another_id_and_another_domain_of_an_instance" {
  command = plan
  variables {
    instances = {
      nord  = { domain = "nord.example.com", database = "north" }
      south = { domain = "south.example.com", location = "eur3" }
    }
  }
  expect_failures = [output.base_urls]
}

run "rejects_a_new_instance_that_takes_the_domain_of_another_instance" {
  command = plan
  variables {
    instances = {
      north  = { domain = "old.example.com" }
      north2 = { domain = "north.example.com" }
      south  = { domain = "south.example.com", location = "eur3" }
    }
  }
  expect_failures = [output.base_urls]
}

run "lets_two_instances_swap_their_domains" {
  command = plan
  variables {
    instances = {
      north = { domain = "south.example.com" }
      south = { domain = "north.example.com", location = "eur3" }
    }
  }

  assert {
    condition     = output.base_urls.south == "https://north.example.com"
    error_message = "Domains may pass between existing instances."
  }
}

run "lets_an_instance_take_the_domain_of_a_removed_instance" {
  command = plan
  variables {
    instances = { south = { domain = "north.example.com", location = "eur3" } }
  }

  assert {
    condition     = output.base_urls.south == "https://north.example.com"
    error_message = "Domains may pass to an existing instance."
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

run "keeps_the_sources_private_and_without_versions" {
  command = plan

  assert {
    condition     = google_storage_bucket.source.uniform_bucket_level_access && google_storage_bucket.source.public_access_prevention == "enforced"
    error_message = "The sources must not be public."
  }
  assert {
    condition     = google_storage_bucket.source.force_destroy != true
    error_message = "No bucket is deleted with its content."
  }
  assert {
    condition     = length(google_storage_bucket.source.versioning) == 0
    error_message = "A bucket with noncurrent objects cannot be destroyed."
  }
}

run "keeps_five_images_of_each_function" {
  command = plan

  assert {
    condition     = google_artifact_registry_repository.functions.format == "DOCKER" && google_artifact_registry_repository.functions.location == "europe-west1"
    error_message = "Images must be in the region of the functions."
  }
  assert {
    condition     = toset([for policy in google_artifact_registry_repository.functions.cleanup_policies : "${policy.action} ${join("", [for kept in policy.most_recent_versions : kept.keep_count])}${join("", [for old in policy.condition : old.older_than])}"]) == toset(["KEEP 5", "DELETE 2592000s"])
    error_message = "Older images must be deleted after 30 days, and the last five kept."
  }
}

run "builds_with_the_least_privileged_account" {
  assert {
    condition = [for grant in [google_project_iam_member.build_log, google_project_iam_member.build_source, google_storage_bucket_iam_member.build, google_artifact_registry_repository_iam_member.build] : [grant.member, grant.role]] == [
      ["serviceAccount:identity-build@acme-identity.iam.gserviceaccount.com", "roles/logging.logWriter"],
      ["serviceAccount:identity-build@acme-identity.iam.gserviceaccount.com", "roles/storage.objectViewer"],
      ["serviceAccount:identity-build@acme-identity.iam.gserviceaccount.com", "roles/storage.objectViewer"],
      ["serviceAccount:identity-build@acme-identity.iam.gserviceaccount.com", "roles/artifactregistry.writer"],
    ]
    error_message = "The build's account must have these roles only."
  }
  assert {
    condition     = google_artifact_registry_repository_iam_member.build.repository == google_artifact_registry_repository.functions.repository_id && google_artifact_registry_repository_iam_member.build.location == "europe-west1"
    error_message = "The build must write to its repository only."
  }
  assert {
    condition     = google_storage_bucket_iam_member.build.bucket == "acme-identity-identity-source"
    error_message = "The build must read the bucket of archives, and no transfer bucket."
  }
  assert {
    condition = [for bucket in [
      "gcf-v2-sources-123456789012-europe-west1", "gcf-v2-sources-123456789012-europe-west10", "gcf-v2-sources-99-europe-west1", "acme-identity-north-imports",
    ] : startswith("projects/_/buckets/${bucket}/objects/north-export/source.zip", regex("^resource\\.name\\.startsWith\\(\"(.+)\"\\)$", google_project_iam_member.build_source.condition[0].expression)[0])] == [true, false, false, false]
    error_message = "The build must read the archives' copies of its region only, and no transfer bucket."
  }
}

run "builds_and_encrypts_with_the_customers_key" {
  command = plan
  variables {
    kms_key = "projects/acme-keys/locations/europe-west1/keyRings/identity/cryptoKeys/identity"
  }

  assert {
    condition = [for bucket in [
      "gcf-v2-sources-123456789012-europe-west1-0a1b2c3d", "gcf-v2-sources-123456789012-europe-west10-0a1b2c3d", "gcf-v2-sources-99-europe-west1-0a1b2c3d", "acme-identity-north-imports",
    ] : startswith("projects/_/buckets/${bucket}/objects/north-export/source.zip", regex("^resource\\.name\\.startsWith\\(\"(.+)\"\\)$", google_project_iam_member.build_source.condition[0].expression)[0])] == [true, false, false, false]
    error_message = "With a key, the bucket of the copies ends in a hash of the key's name."
  }
  assert {
    condition     = [for encryption in google_storage_bucket.source.encryption : encryption.default_kms_key_name] == [var.kms_key] && google_artifact_registry_repository.functions.kms_key_name == var.kms_key
    error_message = "Functions with a key need it on their sources and images."
  }
}

run "builds_after_the_roles_of_the_build_take_effect" {
  assert {
    condition     = time_sleep.build_roles.create_duration == "120s" && time_sleep.build_roles.triggers.account == google_service_account.build.id
    error_message = "Roles take effect a while after they are granted, again for a new account."
  }
  assert {
    condition = time_sleep.build_roles.triggers.roles == join(" ", [
      google_artifact_registry_repository_iam_member.build.id, google_project_iam_member.build_log.id,
      google_project_iam_member.build_source.id, google_storage_bucket_iam_member.build.id,
    ])
    error_message = "Every role must have taken effect, again after one is replaced."
  }
}

run "notifies_the_address_and_the_given_channels" {
  variables {
    notification_channels = ["projects/acme-identity/notificationChannels/1"]
  }

  assert {
    condition     = [for channel in google_monitoring_notification_channel.email : [channel.type, channel.labels.email_address]] == [["email", "operations@example.com"]]
    error_message = "The address must have a channel."
  }
  assert {
    condition     = toset(module.monitoring.notified) == setunion(var.notification_channels, google_monitoring_notification_channel.email[*].name)
    error_message = "Alerts must reach the address and the channels."
  }
}

run "warns_about_alerts_without_a_recipient" {
  command = plan
  variables {
    alert_email = null
  }

  assert {
    condition     = length(google_monitoring_notification_channel.email) == 0
    error_message = "Without an address there must be no channel."
  }
  expect_failures = [check.alerts_have_a_recipient]
}

run "accepts_a_channel_instead_of_an_address" {
  command = plan
  variables {
    alert_email           = null
    notification_channels = ["projects/acme-identity/notificationChannels/1"]
  }

  assert {
    condition     = length(local.notification_channels) == 1
    error_message = "The channel must be enough."
  }
}

run "logs_access_to_data_except_by_the_functions" {
  assert {
    condition = { for service, config in google_project_iam_audit_config.data_access : service => toset(config.audit_log_config[*].log_type) } == {
      for service in ["datastore.googleapis.com", "secretmanager.googleapis.com"] : service => toset(["DATA_READ", "DATA_WRITE"])
    }
    error_message = "Reading and writing the databases and the keys must be logged."
  }
  assert {
    condition = alltrue([for log in google_project_iam_audit_config.data_access["datastore.googleapis.com"].audit_log_config :
    log.exempted_members == toset(flatten(values(module.instance)[*].accounts))])
    error_message = "Each commit of an import would be an entry of the log."
  }
  assert {
    condition = alltrue([for log in google_project_iam_audit_config.data_access["secretmanager.googleapis.com"].audit_log_config :
    length(coalesce(log.exempted_members, [])) == 0])
    error_message = "Whoever reads a key must be in the log."
  }
}

run "enables_every_service_that_it_uses_and_disables_none" {
  command = plan

  assert {
    condition = toset(keys(google_project_service.this)) == toset(formatlist("%s.googleapis.com", [
      "artifactregistry", "certificatemanager", "cloudbuild", "cloudfunctions", "cloudresourcemanager", "compute", "firebaserules",
      "firestore", "iam", "iamcredentials", "logging", "monitoring", "run", "secretmanager", "storage",
    ]))
    error_message = "Without its service, a resource cannot be created."
  }
  assert {
    condition     = alltrue([for service in google_project_service.this : service.disable_on_destroy == false])
    error_message = "The project may use the services for other purposes."
  }
}

run "waits_for_enabled_services" {
  command = plan

  assert {
    condition     = time_sleep.services.create_duration == "60s" && toset(split(" ", time_sleep.services.triggers.services)) == toset(keys(google_project_service.this))
    error_message = "A service answers a while after it was enabled, and so does one that is enabled later."
  }
}

run "sends_requests_to_the_services_of_the_functions" {
  command = plan

  assert {
    condition     = local.services == { for id, instance in module.instance : id => instance.services }
    error_message = "The load balancer must know the functions' own names."
  }
}

run "gives_all_instances_the_same_archives" {
  assert {
    condition = alltrue([for name, archive in google_storage_bucket_object.source : alltrue([
      for instance in values(module.instance) : instance.archives[name] == archive.name
    ])])
    error_message = "An archive must be uploaded once, and deployed to all instances by its digest."
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
    condition     = output.base_urls.east == "https://east.example.com" && length(output.dns_records.east) == 3 && length(output.next_commands) == 3
    error_message = "The new instance must have the same outputs as the others."
  }
}

run "accepts_a_domain_of_another_script" {
  command = plan
  variables {
    instances = { north = { domain = "id.xn--e1afmkfd.xn--p1ai" } }
  }

  assert {
    condition     = output.base_urls.north == "https://id.xn--e1afmkfd.xn--p1ai"
    error_message = "Such a domain is written in its form for the DNS."
  }
}

run "gives_each_instance_its_own_settings" {
  command   = plan
  state_key = "settings"
  variables {
    instances = {
      north = { domain = "north.example.com" }
      south = {
        domain             = "south.example.com"
        database_kms_key   = "projects/acme-keys/locations/europe/keyRings/identity/cryptoKeys/south"
        location           = "eur3"
        exporters          = ["serviceAccount:exporter@acme-identity.iam.gserviceaccount.com"]
        importers          = ["serviceAccount:importer@acme-identity.iam.gserviceaccount.com"]
        cors_origins       = ["https://console.example.com"]
        min_instances      = 3
        max_instances      = 10
        master_key_version = "2"
      }
    }
  }

  assert {
    condition     = [for id in ["north", "south"] : module.instance[id].settings.location] == ["europe-west1", "eur3"]
    error_message = "A database must be in its instance's location, by default the region: it can never move."
  }
  assert {
    condition     = module.instance["north"].settings.database_kms_key == null && module.instance["south"].settings.database_kms_key == var.instances.south.database_kms_key
    error_message = "A database must be encrypted with its instance's own key."
  }
  assert {
    condition     = [for id in ["north", "south"] : module.instance[id].settings.domain] == ["north.example.com", "south.example.com"]
    error_message = "Each instance must be checked at its own domain."
  }
  assert {
    condition     = [for id in ["north", "south"] : join(" ", concat(tolist(module.instance[id].settings.exporters), tolist(module.instance[id].settings.importers)))] == ["", "serviceAccount:exporter@acme-identity.iam.gserviceaccount.com serviceAccount:importer@acme-identity.iam.gserviceaccount.com"]
    error_message = "An instance's exporters and importers must have access to its buckets, and no other account."
  }
  assert {
    condition = alltrue([for environment in values(module.instance["south"].settings.environment) :
      [environment.CORS_ORIGINS, environment.FIRESTORE_DATABASE] == ["https://console.example.com", "south"]
      ]) && alltrue([for environment in values(module.instance["north"].settings.environment) :
      [try(environment.CORS_ORIGINS, "none"), environment.FIRESTORE_DATABASE] == ["none", "north"]
    ])
    error_message = "The functions must have their instance's origins and database."
  }
  assert {
    condition     = [for id in ["north", "south"] : module.instance[id].settings.min_instances["removeOtpEmail"]] == [0, 3]
    error_message = "Only an instance that asks for idle processes may have them."
  }
  assert {
    condition     = [for id in ["north", "south"] : join(" ", values(module.instance[id].settings.max_instances))] == ["20 20 20", "10 10 10"]
    error_message = "Each function must have its instance's maximum of processes."
  }
  assert {
    condition     = [for id in ["north", "south"] : module.instance[id].settings.master_keys["import"]] == [["north-master-key@1"], ["south-master-key@2"]]
    error_message = "The functions must have their instance's own key, in the version of its entry."
  }
}

run "points_an_instance_at_a_restored_database" {
  state_key = "restored"
  variables {
    instances = { north = { domain = "north.example.com", database = "north-restored" } }
  }

  assert {
    condition     = strcontains(output.next_commands.north, "--firestore acme-identity/north-restored ")
    error_message = "The command must name the restored database."
  }
}

run "holds_25_instances" {
  command = plan
  variables {
    instances = { for number in range(25) : format("instance-%02d", number) => { domain = "id-${number}.example.com" } }
  }

  assert {
    condition     = length(module.instance) == 25 && length(flatten(values(module.instance)[*].accounts)) + 1 <= 100
    error_message = "A project must hold 25 instances within its 100 service accounts, of which the builds have one."
  }
}
