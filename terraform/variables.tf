variable "project_id" {
  description = "The id of an existing Google Cloud project that has a billing account."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z][a-z0-9-]{4,28}[a-z0-9]$", var.project_id))
    error_message = "project_id must be 6 to 30 lower-case letters, digits and hyphens, beginning with a letter and not ending in a hyphen, such as \"acme-identity\"."
  }
}

variable "region" {
  description = "The region of the functions and buckets, and the default location of databases. It cannot change later."
  type        = string
  nullable    = false

  validation {
    condition     = can(regex("^[a-z]+-[a-z]+[0-9]{1,2}$", var.region))
    error_message = "region must be the name of a Google Cloud region, such as \"europe-west1\"."
  }
}

variable "dist_directory" {
  description = "The directory of the archives from `npm run build`, relative to Terraform's working directory."
  type        = string
  default     = "../dist"
  nullable    = false

  validation {
    condition     = alltrue([for name in local.functions : fileexists("${var.dist_directory}/${name}.zip")])
    error_message = "dist_directory must hold ${join(", ", [for name in local.functions : "${name}.zip"])}: run npm run build first."
  }
}

variable "alert_email" {
  description = "The address that receives alerts."
  type        = string
  default     = null

  validation {
    condition     = var.alert_email == null ? true : can(regex("^[^@\\s]+@[^@\\s]+\\.[^@\\s]+$", var.alert_email))
    error_message = "alert_email must be an e-mail address, such as \"operations@example.com\"."
  }
}

variable "notification_channels" {
  description = "The full names of further channels that receive alerts. Without a channel and `alert_email`, alerts appear only in the console."
  type        = set(string)
  default     = []
  nullable    = false

  validation {
    condition     = alltrue([for channel in var.notification_channels : can(regex("^projects/[^/]+/notificationChannels/[0-9]+$", channel))])
    error_message = "notification_channels must be full names, such as \"projects/acme-identity/notificationChannels/1234567890\"."
  }
}

variable "monthly_budget" {
  description = "A billing account, and the whole amount in its currency that the project may cost in a month. At 50, 90 and 100 % of it, Google mails the account's administrators and `alert_email`, and stops nothing."
  type = object({
    billing_account = string
    amount          = number
  })
  default = null

  validation {
    condition     = var.monthly_budget == null ? true : can(regex("^[0-9A-F]{6}-[0-9A-F]{6}-[0-9A-F]{6}$", var.monthly_budget.billing_account))
    error_message = "monthly_budget must have the id of a billing account, such as \"012345-6789AB-CDEF01\"."
  }
  validation {
    condition     = var.monthly_budget == null ? true : var.monthly_budget.amount >= 1 && floor(var.monthly_budget.amount) == var.monthly_budget.amount
    error_message = "monthly_budget must have a whole amount of at least 1."
  }
}

variable "requests_per_minute" {
  description = "Requests that one IP address may send to all instances per minute. Further requests receive 429."
  type        = number
  default     = 600
  nullable    = false

  validation {
    condition     = var.requests_per_minute >= 1 && var.requests_per_minute <= 10000 && floor(var.requests_per_minute) == var.requests_per_minute
    error_message = "requests_per_minute must be a whole number from 1 to 10000."
  }
}

variable "admin_requests_per_minute" {
  description = "Exports and imports that one IP address may request of all instances per minute. Further requests receive 429."
  type        = number
  default     = 60
  nullable    = false

  validation {
    condition     = var.admin_requests_per_minute >= 1 && var.admin_requests_per_minute <= 10000 && floor(var.admin_requests_per_minute) == var.admin_requests_per_minute
    error_message = "admin_requests_per_minute must be a whole number from 1 to 10000."
  }
}

variable "audit_retention_days" {
  description = "Days for which the log bucket keeps the audit trail."
  type        = number
  default     = 400
  nullable    = false

  validation {
    condition     = var.audit_retention_days >= 1 && var.audit_retention_days <= 3650 && floor(var.audit_retention_days) == var.audit_retention_days
    error_message = "audit_retention_days must be a whole number from 1 to 3650."
  }
}

variable "kms_key" {
  description = "Your key for archives, images, functions and transfer buckets, in the region; by default Google's own."
  type        = string
  default     = null

  validation {
    condition     = var.kms_key == null ? true : can(regex("^projects/[^/]+/locations/${var.region}/keyRings/[^/]+/cryptoKeys/[^/]+$", var.kms_key))
    error_message = "kms_key must be the full name of a key in the region, such as \"projects/acme-keys/locations/europe-west1/keyRings/identity/cryptoKeys/identity\"."
  }
}

variable "labels" {
  description = "Labels of all resources that take labels, in addition to `app = \"identity\"`."
  type        = map(string)
  default     = {}
  nullable    = false

  validation {
    condition     = alltrue([for name, value in var.labels : can(regex("^[a-z][a-z0-9_-]{0,62}$", name)) && can(regex("^[a-z0-9_-]{0,63}$", value))])
    error_message = "labels must have names and values of lower-case letters, digits, hyphens and underscores, 63 at most, and names that begin with a letter."
  }
}

variable "public_access" {
  description = "How the functions accept the load balancer's requests, which have no identity: `allUsers` grants everyone the invoker's role; `unchecked` is for organisations whose policy forbids that."
  type        = string
  default     = "allUsers"
  nullable    = false

  validation {
    condition     = contains(["allUsers", "unchecked"], var.public_access)
    error_message = "public_access must be allUsers or unchecked."
  }
}
