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
    south = { domains = ["south.example.com"] }
  }
}

run "outputs_the_next_steps" {
  assert {
    condition     = output.next_commands.north == "npm run -s identity -- init --firestore acme-identity/north --token-file north.pat" && length(output.redeploy_commands) == 0
    error_message = "The next command must create the first token in the instance's own database, and active functions must not be replaced."
  }
  assert {
    condition = tolist(output.dns_records.south["south.example.com"]) == tolist([
      { name = "_acme-challenge.example.com.", type = "CNAME", data = "1.authorize.certificatemanager.goog." },
      { name = "south.example.com.", type = "A", data = "203.0.113.7" },
      { name = "south.example.com.", type = "AAAA", data = "203.0.113.7" },
    ])
    error_message = "The DNS records must be the certificate's and the load balancer's."
  }
}

run "rejects_another_id_of_an_instance" {
  command = plan
  variables {
    instances = { nord = { domains = ["north.example.com"] }, south = { domains = ["south.example.com"] } }
  }
  expect_failures = [output.base_urls]
}

run "rejects_another_id_and_another_domain_of_an_instance" {
  command = plan
  variables {
    instances = { nord = { domains = ["nord.example.com"], database = "north" }, south = { domains = ["south.example.com"] } }
  }
  expect_failures = [output.base_urls]
}

run "rejects_a_new_instance_that_takes_the_domain_of_another_instance" {
  command = plan
  variables {
    instances = { north = { domains = ["old.example.com"] }, nord = { domains = ["north.example.com"] } }
  }
  expect_failures = [output.base_urls]
}

run "rejects_a_new_first_domain_of_an_existing_instance" {
  command = plan
  variables {
    instances = { north = { domains = ["new.example.com", "north.example.com"] }, south = { domains = ["south.example.com"] } }
  }
  expect_failures = [output.base_urls]
}

run "warns_about_alerts_without_a_recipient" {
  command = plan
  variables {
    alert_email = null
  }
  expect_failures = [check.alerts_have_a_recipient]
}

run "holds_25_instances" {
  command = plan
  variables {
    instances = { for number in range(25) : format("instance-%02d", number) => { domains = ["id-${number}.xn--e1afmkfd.xn--p1ai"] } }
  }
  assert {
    condition     = length(flatten(values(module.instance)[*].accounts)) + 1 <= 100
    error_message = "A project holds 25 instances: it has 100 service accounts, of which the builds have one."
  }
}
