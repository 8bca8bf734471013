terraform {
  required_version = "~> 1.11"

  # The operators create the lock file: its checksums come from HashiCorp's registry, which this project's builds and
  # tests cannot reach. The tests run google 8.0.0 and time 0.14.2.

  required_providers {
    google = {
      source  = "hashicorp/google"
      version = "~> 8.0"
    }
    time = {
      source  = "hashicorp/time"
      version = "~> 0.14"
    }
  }

  # `terraform init -backend-config=bucket=BUCKET` sets the bucket.
  backend "gcs" {
    prefix = "identity"
  }
}

provider "google" {
  project = var.project_id
  region  = var.region

  default_labels = local.labels

  # The Firebase Rules API requires a quota project, even for a user's credentials.
  billing_project       = var.project_id
  user_project_override = true
}
