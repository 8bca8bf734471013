# The root module with two instances. Nothing is created: the provider is a mock with its real schema.

mock_provider "time" {}

mock_provider "google" {
  source = "./tests/mocks"
}

variables {
  project_id     = "acme-identity"
  region         = "europe-west1"
  dist_directory = "tests/archives"
  alert_email    = "operations@example.com"
  instances = {
    north = { domains = ["north.example.com"] }
    south = { domains = ["south.example.com"], location = "eur3" }
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
    condition = tolist(output.dns_records.south["south.example.com"]) == tolist([
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
    instances = { south = { domains = ["south.example.com"], location = "eur3" } }
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
      nord  = { domains = ["north.example.com"] }
      south = { domains = ["south.example.com"], location = "eur3" }
    }
  }
  expect_failures = [output.base_urls]
}

run "rejects_another_id_and_another_domain_of_an_instance" {
  command = plan
  variables {
    instances = {
      nord  = { domains = ["nord.example.com"], database = "north" }
      south = { domains = ["south.example.com"], location = "eur3" }
    }
  }
  expect_failures = [output.base_urls]
}

run "rejects_a_new_instance_that_takes_the_domain_of_another_instance" {
  command = plan
  variables {
    instances = {
      north  = { domains = ["old.example.com"] }
      north2 = { domains = ["north.example.com"] }
      south  = { domains = ["south.example.com"], location = "eur3" }
    }
  }
  expect_failures = [output.base_urls]
}

run "rejects_a_new_first_domain_of_an_existing_instance" {
  command = plan
  variables {
    instances = {
      north = { domains = ["new.example.com", "north.example.com"] }
      south = { domains = ["south.example.com"], location = "eur3" }
    }
  }
  expect_failures = [output.base_urls]
}

run "outputs_the_records_of_a_further_domain" {
  variables {
    instances = {
      north = { domains = ["north.example.com", "new.example.com"] }
      south = { domains = ["south.example.com"], location = "eur3" }
    }
  }

  assert {
    condition     = keys(output.dns_records.north) == ["new.example.com", "north.example.com"] && output.base_urls.north == "https://north.example.com"
    error_message = "A further domain must have its records, and leave the base URL as it is."
  }
}

run "lets_a_known_domain_become_the_first" {
  command = plan
  variables {
    instances = {
      north = { domains = ["new.example.com", "north.example.com"] }
      south = { domains = ["south.example.com"], location = "eur3" }
    }
  }

  assert {
    condition     = output.base_urls.north == "https://new.example.com"
    error_message = "The first domain must be the base URL."
  }
}

run "lets_two_instances_swap_their_domains" {
  command = plan
  variables {
    instances = {
      north = { domains = ["south.example.com"] }
      south = { domains = ["north.example.com"], location = "eur3" }
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
    instances = { south = { domains = ["north.example.com"], location = "eur3" } }
  }

  assert {
    condition     = output.base_urls.south == "https://north.example.com"
    error_message = "Domains may pass to an existing instance."
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

run "accepts_a_domain_of_another_script" {
  command   = plan
  state_key = "script"
  variables {
    instances = { north = { domains = ["id.xn--e1afmkfd.xn--p1ai"] } }
  }

  assert {
    condition     = output.base_urls.north == "https://id.xn--e1afmkfd.xn--p1ai"
    error_message = "Such a domain is written in its form for the DNS."
  }
}

run "holds_25_instances" {
  command = plan
  variables {
    instances = { for number in range(25) : format("instance-%02d", number) => { domains = ["id-${number}.example.com"] } }
  }

  assert {
    condition     = length(module.instance) == 25 && length(flatten(values(module.instance)[*].accounts)) + 1 <= 100
    error_message = "A project must hold 25 instances within its 100 service accounts, of which the builds have one."
  }
}
