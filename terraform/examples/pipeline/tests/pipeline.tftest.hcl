mock_provider "google" {
  mock_resource "google_iam_workload_identity_pool" {
    defaults = { name = "projects/123456789012/locations/global/workloadIdentityPools/identity-pipeline" }
  }
  mock_resource "google_service_account" {
    defaults = {
      name   = "projects/acme-identity/serviceAccounts/identity-deployer@acme-identity.iam.gserviceaccount.com"
      email  = "identity-deployer@acme-identity.iam.gserviceaccount.com"
      member = "serviceAccount:identity-deployer@acme-identity.iam.gserviceaccount.com"
    }
  }
}

variables {
  project_id = "acme-identity"
  repository = "acme/identity"
}

run "accepts_one_branch_of_one_repository" {
  assert {
    condition     = google_iam_workload_identity_pool_provider.github.attribute_condition == "assertion.repository == 'acme/identity' && assertion.ref == 'refs/heads/main'"
    error_message = "Neither another repository nor a pull request may deploy."
  }
  assert {
    condition     = google_iam_workload_identity_pool_provider.github.oidc[0].issuer_uri == "https://token.actions.githubusercontent.com"
    error_message = "Only GitHub may issue the tokens."
  }
  assert {
    condition     = google_service_account_iam_member.pipeline.role == "roles/iam.workloadIdentityUser" && google_service_account_iam_member.pipeline.member == "principalSet://iam.googleapis.com/projects/123456789012/locations/global/workloadIdentityPools/identity-pipeline/attribute.repository/acme/identity"
    error_message = "The repository's workflows must act as the deployer, and nobody else."
  }
}

run "gives_the_deployer_no_basic_role" {
  assert {
    condition     = length(setintersection(keys(google_project_iam_member.deployer), ["roles/owner", "roles/editor", "roles/viewer"])) == 0
    error_message = "Basic roles read everything."
  }
  assert {
    condition     = alltrue([for grant in google_project_iam_member.deployer : grant.member == "serviceAccount:identity-deployer@acme-identity.iam.gserviceaccount.com" && grant.project == "acme-identity"])
    error_message = "The roles must be the deployer's."
  }
}

run "lets_the_deployer_delete_certificates" {
  command = plan

  assert {
    condition     = [for role in keys(google_project_iam_member.deployer) : role if startswith(role, "roles/certificatemanager.")] == ["roles/certificatemanager.owner"]
    error_message = "The editor's role creates and changes certificates, but a removed instance's must go."
  }
}

run "enables_what_exchanges_tokens" {
  command = plan

  assert {
    condition     = toset(keys(google_project_service.this)) == toset(["iam.googleapis.com", "iamcredentials.googleapis.com", "sts.googleapis.com"])
    error_message = "Without these services, no token of a run is accepted."
  }
  assert {
    condition     = alltrue([for service in google_project_service.this : service.disable_on_destroy == false && service.project == "acme-identity"])
    error_message = "The project may use the services for other purposes."
  }
}

run "rejects_a_repository_without_an_owner" {
  command = plan
  variables {
    repository = "identity"
  }
  expect_failures = [var.repository]
}

run "rejects_a_branch_that_would_end_the_condition" {
  command = plan
  variables {
    branch = "main' || 'a' == 'a"
  }
  expect_failures = [var.branch]
}
