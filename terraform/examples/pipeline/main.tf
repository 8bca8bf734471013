locals {
  # The administration of what the configuration creates. Some of these roles also read data, and projectIamAdmin can grant
  # every other right: the branch must be protected like an owner's account.
  roles = toset([
    "roles/artifactregistry.admin",
    "roles/certificatemanager.owner", # The editor's role deletes nothing.
    "roles/cloudfunctions.admin",
    "roles/compute.loadBalancerAdmin",
    "roles/compute.securityAdmin",
    "roles/datastore.owner",
    "roles/firebaserules.admin",
    "roles/iam.serviceAccountAdmin",
    "roles/iam.serviceAccountUser",
    "roles/logging.configWriter",
    "roles/monitoring.editor",
    "roles/resourcemanager.projectIamAdmin",
    "roles/run.admin",
    "roles/secretmanager.admin",
    "roles/serviceusage.serviceUsageAdmin",
    "roles/storage.admin",
  ])
}

# What exchanges a run's token (https://cloud.google.com/iam/docs/using-workload-identity-federation).
resource "google_project_service" "this" {
  for_each = toset(["iam.googleapis.com", "iamcredentials.googleapis.com", "sts.googleapis.com"])

  project            = var.project_id
  service            = each.key
  disable_on_destroy = false
}

resource "google_iam_workload_identity_pool" "this" {
  project                   = var.project_id
  workload_identity_pool_id = "identity-pipeline"
  display_name              = "Deployments of identity"

  depends_on = [google_project_service.this]
}

# GitHub issues a token for each run. Only those of the branch are accepted: a pull request's workflow can be written by anyone.
resource "google_iam_workload_identity_pool_provider" "github" {
  project                            = var.project_id
  workload_identity_pool_id          = google_iam_workload_identity_pool.this.workload_identity_pool_id
  workload_identity_pool_provider_id = "github"
  attribute_condition                = "assertion.repository == '${var.repository}' && assertion.ref == 'refs/heads/${var.branch}'"

  attribute_mapping = {
    "google.subject"       = "assertion.sub"
    "attribute.repository" = "assertion.repository"
  }

  oidc {
    issuer_uri = "https://token.actions.githubusercontent.com"
  }
}

resource "google_service_account" "deployer" {
  project      = var.project_id
  account_id   = "identity-deployer"
  display_name = "Deploys identity from ${var.repository}"

  depends_on = [google_project_service.this]
}

resource "google_service_account_iam_member" "pipeline" {
  service_account_id = google_service_account.deployer.name
  role               = "roles/iam.workloadIdentityUser"
  member             = "principalSet://iam.googleapis.com/${google_iam_workload_identity_pool.this.name}/attribute.repository/${var.repository}"
}

resource "google_project_iam_member" "deployer" {
  for_each = local.roles

  project = var.project_id
  role    = each.key
  member  = google_service_account.deployer.member
}
