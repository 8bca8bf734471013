# One run for each value that the variables reject.

mock_provider "time" {}

mock_provider "google" {}

variables {
  project_id     = "acme-identity"
  region         = "europe-west1"
  dist_directory = "tests/archives"
  alert_email    = "operations@example.com"
  instances      = { north = { domain = "north.example.com" } }
}

run "rejects_an_empty_map_of_instances" {
  command = plan
  variables {
    instances = {}
  }
  expect_failures = [var.instances]
}

run "rejects_a_master_key_whose_version_can_change" {
  command = plan
  variables {
    instances = { north = { domain = "north.example.com", master_key_version = "latest" } }
  }
  expect_failures = [var.instances]
}

run "rejects_an_id_that_is_too_short" {
  command = plan
  variables {
    instances = { abc = { domain = "north.example.com" } }
  }
  expect_failures = [var.instances]
}

run "rejects_an_id_that_is_too_long_for_a_service_account" {
  command = plan
  variables {
    instances = { abcdefghijklmnopqrstu = { domain = "north.example.com" } }
  }
  expect_failures = [var.instances]
}

run "rejects_an_id_like_a_uuid" {
  command = plan
  variables {
    instances = { "f47ac10b-58cc-4372-a567-0e02b2c3d479" = { domain = "north.example.com" } }
  }
  expect_failures = [var.instances]
}

run "rejects_an_id_with_capitals" {
  command = plan
  variables {
    instances = { North = { domain = "north.example.com" } }
  }
  expect_failures = [var.instances]
}

run "rejects_an_id_that_begins_with_a_digit" {
  command = plan
  variables {
    instances = { "1north" = { domain = "north.example.com" } }
  }
  expect_failures = [var.instances]
}

run "rejects_an_id_that_ends_in_a_hyphen" {
  command = plan
  variables {
    instances = { north- = { domain = "north.example.com" } }
  }
  expect_failures = [var.instances]
}

run "rejects_an_id_that_no_bucket_can_have" {
  command = plan
  variables {
    instances = { google-north = { domain = "north.example.com" } }
  }
  expect_failures = [var.instances]
}

run "rejects_a_domain_with_a_scheme" {
  command = plan
  variables {
    instances = { north = { domain = "https://north.example.com" } }
  }
  expect_failures = [var.instances]
}

run "rejects_a_domain_with_a_path" {
  command = plan
  variables {
    instances = { north = { domain = "north.example.com/id" } }
  }
  expect_failures = [var.instances]
}

run "rejects_a_domain_with_a_wildcard" {
  command = plan
  variables {
    instances = { north = { domain = "*.example.com" } }
  }
  expect_failures = [var.instances]
}

run "rejects_a_domain_of_one_label" {
  command = plan
  variables {
    instances = { north = { domain = "localhost" } }
  }
  expect_failures = [var.instances]
}

run "rejects_an_address_instead_of_a_domain" {
  command = plan
  variables {
    instances = { north = { domain = "203.0.113.7" } }
  }
  expect_failures = [var.instances]
}

run "rejects_a_domain_that_ends_in_a_dot" {
  command = plan
  variables {
    instances = { north = { domain = "north.example.com." } }
  }
  expect_failures = [var.instances]
}

run "rejects_a_domain_with_capitals" {
  command = plan
  variables {
    instances = { north = { domain = "North.example.com" } }
  }
  expect_failures = [var.instances]
}

run "rejects_two_instances_on_one_domain" {
  command = plan
  variables {
    instances = { north = { domain = "id.example.com" }, south = { domain = "id.example.com" } }
  }
  expect_failures = [var.instances]
}

run "rejects_an_unknown_location" {
  command = plan
  variables {
    instances = { north = { domain = "north.example.com", location = "europe" } }
  }
  expect_failures = [var.instances]
}

run "rejects_a_user_as_an_exporter" {
  command = plan
  variables {
    instances = { north = { domain = "north.example.com", exporters = ["user:jane@example.com"] } }
  }
  expect_failures = [var.instances]
}

run "rejects_everyone_as_an_importer" {
  command = plan
  variables {
    instances = { north = { domain = "north.example.com", importers = ["allUsers"] } }
  }
  expect_failures = [var.instances]
}

run "rejects_an_origin_with_a_path" {
  command = plan
  variables {
    instances = { north = { domain = "north.example.com", cors_origins = ["https://console.example.com/"] } }
  }
  expect_failures = [var.instances]
}

run "rejects_a_negative_number_of_idle_processes" {
  command = plan
  variables {
    instances = { north = { domain = "north.example.com", min_instances = -1 } }
  }
  expect_failures = [var.instances]
}

run "rejects_a_fraction_of_an_idle_process" {
  command = plan
  variables {
    instances = { north = { domain = "north.example.com", min_instances = 0.5 } }
  }
  expect_failures = [var.instances]
}

run "rejects_too_many_idle_processes" {
  command = plan
  variables {
    instances = { north = { domain = "north.example.com", min_instances = 11 } }
  }
  expect_failures = [var.instances]
}

run "rejects_a_project_id_that_is_too_short" {
  command = plan
  variables {
    project_id = "acme"
  }
  expect_failures = [var.project_id]
}

run "rejects_a_project_number" {
  command = plan
  variables {
    project_id = "123456789012"
  }
  expect_failures = [var.project_id]
}

run "rejects_a_project_id_of_a_domain" {
  command = plan
  variables {
    project_id = "example.com:acme"
  }
  expect_failures = [var.project_id]
}

run "rejects_a_zone_instead_of_a_region" {
  command = plan
  variables {
    region = "europe-west1-b"
  }
  expect_failures = [var.region]
}

run "rejects_a_continent_instead_of_a_region" {
  command = plan
  variables {
    region = "EU"
  }
  expect_failures = [var.region]
}

run "rejects_a_directory_without_archives" {
  command = plan
  variables {
    dist_directory = "tests"
  }
  expect_failures = [var.dist_directory]
}

run "rejects_a_notification_channel_without_its_project" {
  command = plan
  variables {
    notification_channels = ["1234567890"]
  }
  expect_failures = [var.notification_channels]
}

run "rejects_zero_requests_per_minute" {
  command = plan
  variables {
    requests_per_minute = 0
  }
  expect_failures = [var.requests_per_minute]
}

run "rejects_a_fraction_of_a_request" {
  command = plan
  variables {
    requests_per_minute = 1.5
  }
  expect_failures = [var.requests_per_minute]
}

run "rejects_too_many_requests_per_minute" {
  command = plan
  variables {
    requests_per_minute = 10001
  }
  expect_failures = [var.requests_per_minute]
}

run "rejects_an_audit_trail_of_zero_days" {
  command = plan
  variables {
    audit_retention_days = 0
  }
  expect_failures = [var.audit_retention_days]
}

run "rejects_an_audit_trail_longer_than_log_buckets_keep" {
  command = plan
  variables {
    audit_retention_days = 3651
  }
  expect_failures = [var.audit_retention_days]
}

run "rejects_a_fraction_of_a_day_of_the_audit_trail" {
  command = plan
  variables {
    audit_retention_days = 1.5
  }
  expect_failures = [var.audit_retention_days]
}

run "rejects_a_database_like_a_uuid" {
  command = plan
  variables {
    instances = { north = { domain = "north.example.com", database = "f47ac10b-58cc-4372-a567-0e02b2c3d479" } }
  }
  expect_failures = [var.instances]
}

run "rejects_a_database_that_is_too_short" {
  command = plan
  variables {
    instances = { north = { domain = "north.example.com", database = "abc" } }
  }
  expect_failures = [var.instances]
}

run "rejects_the_default_database" {
  command = plan
  variables {
    instances = { north = { domain = "north.example.com", database = "(default)" } }
  }
  expect_failures = [var.instances]
}

run "rejects_two_instances_on_one_database" {
  command = plan
  variables {
    instances = { north = { domain = "north.example.com" }, south = { domain = "south.example.com", database = "north" } }
  }
  expect_failures = [var.instances]
}

run "rejects_the_26th_instance" {
  command = plan
  variables {
    instances = { for number in range(26) : format("instance-%02d", number) => { domain = "id-${number}.example.com" } }
  }
  expect_failures = [var.instances]
}

run "rejects_a_database_key_without_its_project" {
  command = plan
  variables {
    instances = { north = { domain = "north.example.com", database_kms_key = "north" } }
  }
  expect_failures = [var.instances]
}

run "rejects_a_key_of_another_region" {
  command = plan
  variables {
    kms_key = "projects/acme-keys/locations/us-east1/keyRings/identity/cryptoKeys/identity"
  }
  expect_failures = [var.kms_key]
}

run "rejects_a_label_with_capitals" {
  command = plan
  variables {
    labels = { Team = "identity" }
  }
  expect_failures = [var.labels]
}

run "rejects_another_kind_of_access" {
  command = plan
  variables {
    public_access = "allAuthenticatedUsers"
  }
  expect_failures = [var.public_access]
}

run "rejects_zero_exports_and_imports_per_minute" {
  command = plan
  variables {
    admin_requests_per_minute = 0
  }
  expect_failures = [var.admin_requests_per_minute]
}

run "rejects_an_invalid_address" {
  command = plan
  variables {
    alert_email = "operations"
  }
  expect_failures = [var.alert_email]
}

run "rejects_functions_without_processes" {
  command = plan
  variables {
    instances = { north = { domain = "north.example.com", max_instances = 0 } }
  }
  expect_failures = [var.instances]
}

run "rejects_fewer_processes_than_the_minimum" {
  command = plan
  variables {
    instances = { north = { domain = "north.example.com", min_instances = 5, max_instances = 4 } }
  }
  expect_failures = [var.instances]
}
